"""The code of docs/python.md and of the README runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_code_of_the_documents_runs(page, tmp_path):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert out.returncode == 0, out.stderr
    if page == "README.md":
        assert out.stdout.split() == ["[2.5,", "2.5,", "2.5,", "2.5]"]
        return
    lines = iter(out.stdout.splitlines())
    for expected in re.findall(r"^ *print\(.*# ([\[{].*)$", text, re.MULTILINE):
        start = expected.split("…")[0].rstrip(", ")
        assert any(line.startswith(start) for line in lines), (start, out.stdout)
