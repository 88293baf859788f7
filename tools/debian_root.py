"""Debian packages, unpacked into a folder instead of installed.

For what the system itself cannot have: packages of another release or architecture, and those that
conflict with each other. Only apt-get and tar are needed; maintainer scripts are not run, which
compilers and headers can do without.
"""

import os
import subprocess
from pathlib import Path


class Unavailable(Exception):
    """A package is not available here; the message says why."""


def host_architecture():
    return output("dpkg", "--print-architecture")


def host_release():
    """The code name of the system's release, such as bookworm."""
    names = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return names.get("VERSION_CODENAME", "").strip('"')


def output(*command):
    """The output of a command. Raises Unavailable if there is no such command."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        raise Unavailable(f"no {command[0]} here") from None
    except subprocess.CalledProcessError as error:
        told = [line for line in error.stderr.splitlines() if line.startswith("E:")]
        raise Unavailable(told[0][3:] if told else f"{command[0]} failed") from None


class DebianRoot:
    """A folder with packages of one release and architecture, laid out as in `/`."""

    def __init__(self, path, release, architecture):
        self.path = Path(path).resolve()
        self.release = release
        self.architecture = architecture
        self.state = self.path.with_name(self.path.name + ".apt")

    def add(self, *packages):
        """Unpacks the packages and their dependencies. Packages that are already there are skipped.

        Call it once for each of several packages that conflict.
        """
        stamp = self.state / ("+".join(packages) + ".added")
        if stamp.exists():
            return
        self.prepare()
        archives = self.state / "cache/archives"
        before = set(archives.glob("*.deb"))
        self.apt("install", "--yes", "--download-only", "--no-install-recommends", *packages)
        for archive in sorted(set(archives.glob("*.deb")) - before):
            self.unpack(archive)
        stamp.touch()

    def prepare(self):
        if (self.state / "ready").exists():
            return
        for folder in ("lists/partial", "cache/archives/partial", "parts"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        (self.state / "status").touch()
        (self.state / "sources.list").write_text(self.sources())
        # Since Debian 12 packages rely on these links.
        for folder in ("bin", "lib", "lib64", "sbin"):
            (self.path / "usr" / folder).mkdir(parents=True, exist_ok=True)
            if not (self.path / folder).is_symlink():
                (self.path / folder).symlink_to(f"usr/{folder}")
        self.apt("update")
        (self.state / "ready").touch()

    def sources(self):
        """The system's own package sources, with the name of this release."""
        form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
        targets = output("apt-get", "indextargets", "--format", form, "Created-By: Packages")
        lines = set()
        for target in targets.splitlines():
            uri, release, component = target.split()
            if release == host_release() or self.release == host_release():
                release = release.replace(host_release(), self.release, 1)
                lines.add(f"deb {uri} {release} {component}\n")
        if not lines:
            raise Unavailable("apt-get has no package index: run apt-get update")
        return "".join(sorted(lines))

    def apt(self, *arguments):
        options = {
            "Dir::Etc::SourceList": self.state / "sources.list",
            "Dir::Etc::SourceParts": self.state / "parts",
            "Dir::State::Lists": self.state / "lists",
            "Dir::State::Status": self.state / "status",
            "Dir::Cache": self.state / "cache",
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            "APT::Sandbox::User": "root",
        }
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        output("apt-get", *settings, *arguments)

    def unpack(self, archive):
        contents = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
        subprocess.run(
            ["tar", "-xf", "-", "--keep-directory-symlink", "--no-same-owner", "-C", self.path],
            stdin=contents.stdout, check=True)
        if contents.wait() != 0:
            raise Unavailable(f"could not unpack {archive.name}")
        names = output("dpkg-deb", "--contents", str(archive)).splitlines()
        for line in names:
            if line.startswith("l") and " -> /" in line:
                self.turn_link(line.split(" -> /"))

    def turn_link(self, line):
        """Makes an absolute link relative, so that it stays inside this folder outside of a chroot, too."""
        link = self.path / line[0].split(" ./", 1)[1]
        target = self.path / line[1]
        if link.is_symlink():
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent.resolve()))
