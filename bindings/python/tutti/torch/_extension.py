"""Builds and loads the extension module for the torch that is installed.

The interface of torch's backends changes with each minor version, and the C++ ABI with the wheel.
So the extension is compiled for the torch that is there: once, on first use, into a cache. It
reaches tutti through its C API.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from tutti._errors import InvalidArgument
from tutti._quantity import parse_bytes

_NAME = "_tutti_torch"
_HERE = Path(__file__).resolve().parent


class BuildError(ImportError):
    """The extension could not be compiled."""


@functools.lru_cache(maxsize=1)
def load() -> ModuleType:
    """Return the extension. Compiles it if no earlier process has."""
    smallest = _smallest_shared_tensor()
    extension = _import(_find_or_build())
    atexit.register(extension._leave_all)
    if smallest is not None:
        extension.share_tensors_from(smallest)
    return extension


def _smallest_shared_tensor() -> int | None:
    """Return from how many bytes on CPU tensors are made in shared memory. None: none are."""
    chosen = os.environ.get("TUTTI_TORCH_ALLOC", "64KiB")
    if chosen == "off":
        return None
    try:
        return parse_bytes(chosen)
    except InvalidArgument as error:
        raise InvalidArgument(f"TUTTI_TORCH_ALLOC is neither off nor a size: {error}") from None


def is_loaded() -> bool:
    """Tell whether this process has made a group."""
    return load.cache_info().currsize > 0


def _import(path: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
    spec = importlib.util.spec_from_file_location(_NAME, str(path), loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# Places ------------------------------------------------------------------------------------


def _sources() -> list[Path]:
    return sorted((_HERE / "src").glob("*.[ch]pp"))


def _library() -> Path:
    found = sorted(_HERE.parent.glob("libtutti.so.*"))
    if not found:
        raise BuildError(f"tutti is not installed completely: {_HERE.parent} has no libtutti.so")
    return found[0]


def _key(flags: list[str]) -> str:
    """Return a name for the result that changes with everything that it depends on."""
    import torch

    digest = hashlib.sha256("\0".join(flags).encode())
    for path in [*_sources(), *sorted((_HERE.parent / "include").rglob("*.h"))]:
        digest.update(path.read_bytes())
    abi = sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag
    return f"torch-{torch.__version__}-{abi}-{digest.hexdigest()[:16]}"


def _cache() -> Path:
    chosen = os.environ.get("TUTTI_TORCH_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tutti" / "torch"


def _find_or_build() -> Path:
    flags = _flags()
    key = _key(flags)
    prebuilt = _HERE / "prebuilt" / f"{key}.so"
    if prebuilt.exists():
        return prebuilt
    try:
        cache = _cache()
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (cache / f"{key}.lock").open("w")
    except OSError as error:
        cache = Path(tempfile.gettempdir()) / f"tutti-torch-{os.getuid()}"
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        if cache.stat().st_uid != os.getuid():
            raise BuildError(
                f"no directory for the compiled extension: {error}, and {cache} belongs to "
                "another user. Set TUTTI_TORCH_CACHE to a directory that you can write."
            ) from error
        lock = (cache / f"{key}.lock").open("w")
    built = cache / f"{key}.so"
    with lock:
        # The ranks of a host start together: one compiles, and the others wait here.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            build(built, flags)
    return built


# Compiling ---------------------------------------------------------------------------------


def _flags() -> list[str]:
    import torch

    root = Path(torch.__file__).resolve().parent
    headers = [root / "include", root / "include" / "torch" / "csrc" / "api" / "include"]
    flags = [
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-fvisibility=hidden",
        "-DTUTTI_SHARED",
        f"-DTUTTI_TORCH_MODULE={_NAME}",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        f"-I{_HERE.parent / 'include'}",
        *(f"-isystem{path}" for path in headers),
        f"-isystem{sysconfig.get_path('include')}",
    ]
    # Torch before 2.9 tells how its pybind11 was built; only then are its types shared.
    for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI"):
        value: Any = getattr(torch._C, f"_PYBIND11_{name}", None)
        if value is not None:
            flags.append(f'-DPYBIND11_{name}="{value}"')
    return flags


def _compiler() -> str:
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["c++", "g++", "clang++"]:
        if name and shutil.which(name):
            return name
    raise BuildError(
        "tutti compiles its PyTorch extension on first use and needs a C++ compiler with C++20. "
        + (f"CXX={chosen} is not there." if chosen else "None is there.")
        + " Install one (Debian, Ubuntu: apt install g++)."
    )


def build(target: Path, flags: list[str] | None = None) -> None:
    """Compile the extension to `target`."""
    import torch

    flags = _flags() if flags is None else flags
    compiler = _compiler()
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise BuildError(
            "tutti compiles its PyTorch extension on first use and needs the headers of Python. "
            "Install them (Debian, Ubuntu: apt install python3-dev)."
        )
    print(
        f"tutti: compiling the backend for torch {torch.__version__}: once, for about a minute",
        file=sys.stderr,
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="tutti-torch-") as folder:
        work = Path(folder)
        # Two units, compiled side by side: torch's headers cost more than the code.
        units = [path for path in _sources() if path.suffix == ".cpp" and path.stem != "module"]
        together = "".join(f'#include "{path}"\n' for path in units)
        (work / "backend.cpp").write_text(together)
        jobs = [
            (work / "backend.o", [str(work / "backend.cpp")]),
            (work / "module.o", [str(_HERE / "src" / "module.cpp")]),
        ]
        running = [_start([compiler, *flags, "-c", *source, "-o", str(object_)]) for object_, source in jobs]
        for process in running:
            _finish(process)
        libraries = Path(torch.__file__).resolve().parent / "lib"
        linked = work / "linked.so"
        _finish(
            _start(
                [
                    compiler,
                    "-shared",
                    *(str(object_) for object_, _ in jobs),
                    str(_library()),
                    f"-L{libraries}",
                    *("-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"),
                    f"-Wl,-rpath,{_HERE.parent}:{libraries}",
                    *("-o", str(linked)),
                ]
            )
        )
        # Into place at once: another process may look for it at any time.
        partial = target.with_suffix(f".{os.getpid()}")
        shutil.copy(linked, partial)
        partial.replace(target)


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )


def _finish(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    if process.returncode == 0:
        return
    lines = [line for line in output.splitlines() if "error" in line.lower()][:8]
    command = process.args[0] if isinstance(process.args, list) else process.args
    raise BuildError(
        f"tutti could not compile its PyTorch extension with {command!r}:\n  "
        + "\n  ".join(lines or output.splitlines()[-8:])
        + "\nSet CXX to a newer compiler (GCC 11, Clang 14), or report it."
    )
