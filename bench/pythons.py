"""Makes Pythons with packages of PyPI, for peers and clients that a bench uses. Each is made once, in a folder of the
build."""
import os, subprocess, sys

PACKAGES = {"sqlglot": "sqlglot==30.30.0", "httpx": "httpx==0.28.1"}
"""What may be asked for, by the name that is imported."""


def python_with(venv, *modules):
    """Returns (a Python that imports all of `modules`, None), or (None, the reason why there is none)."""
    python = os.path.join(venv, "bin", "python3")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
        if subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode != 0:
            subprocess.run([python, "-m", "pip", "install", "-q", *(PACKAGES[name] for name in modules)], check=True,
                           capture_output=True, timeout=300)
        return python, None
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)
