"""The sample databases, as files or in a PostgreSQL, and the options that name them to a worker or a replay."""
import re
import subprocess
from pathlib import Path

from generate import SAMPLES

ROLE = "soak_reader"  # a read-only role, because a role with more rights would be refused


def as_files(root):
    """Creates the files, once for a whole session."""
    for script in SAMPLES.glob("*.sql"):
        at = Path(root) / script.stem / f"{script.stem}.sqlite"
        if not at.exists():
            at.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["sqlite3", at], stdin=open(script), check=True)
    return ["--db-root", str(root)]


def in_postgres(superuser, file):
    """Creates a database on the server for each sample, and a configuration file with a catalogue of them. Also runs
    once for a session."""
    if not Path(file).exists():
        _psql(superuser, f"CREATE ROLE {ROLE} LOGIN")
        text = "databases:\n"
        for script in SAMPLES.glob("*.sql"):
            at = superuser.replace("dbname=postgres", f"dbname={script.stem}")
            _psql(superuser, f"CREATE DATABASE {script.stem}")
            _psql(at, re.sub(r"\bREAL\b", "double precision", script.read_text()))
            _psql(at, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
            text += f"  {script.stem}:\n    path: {at.replace('user=assay', f'user={ROLE}')}\n"
        Path(file).write_text(text)
    return ["--config", str(file)]


def _psql(connection, text):
    command = ["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", connection]
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
