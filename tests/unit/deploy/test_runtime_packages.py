"""Checks that deploy/runtime-packages.sh finds the libraries that a program opens only when needed. It finds them by
their names in the program, whatever characters these have.

    test_runtime_packages.py
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "deploy/runtime-packages.sh"
SKIPPED = 77


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def packages(program):
    return set(output("bash", SCRIPT, program).split())


def is_packaged(path):
    names = {path, "/usr" + path, path.removeprefix("/usr")}
    return any(subprocess.run(["dpkg", "-S", name], capture_output=True, check=False).returncode == 0 for name in names)


def library():
    """Returns the soname of a library that has other characters than letters, such as libcurl's with gnutls, or
    None."""
    row = r"^\s(lib\w*[-+0-9][\w+-]*\.so\.[\d.]+) .* => (\S+)$"
    rows = re.findall(row, output("/sbin/ldconfig", "-p"), re.M)
    return next((name for name, path in rows if is_packaged(path)), None)


def main():
    name = library() if shutil.which("dpkg") else None
    if not name:
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        plain, late = Path(scratch, "plain"), Path(scratch, "late")
        shutil.copy(shutil.which("true"), plain)
        shutil.copy(plain, late)
        with late.open("ab") as program:
            program.write(b"\0" + name.encode() + b"\0")
        if not packages(late) > packages(plain):
            sys.exit(f"{name} stands in the program, and no package is found for it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
