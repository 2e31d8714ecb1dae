"""Runs a real `assay serve` over the sample databases. As a plugin of pytest, it provides one server and one set of
databases for the whole run."""
import contextlib
import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "deploy/samples"

# Two of the shops have no hirings, so "how many in each shop" has two readings.
SHOPS = """
CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE hiring (employee_id INTEGER PRIMARY KEY, shop_id INTEGER NOT NULL REFERENCES shop(id));
INSERT INTO shop VALUES (1, 'Apple'), (2, 'Best'), (3, 'Corner'), (4, 'Dawn'), (5, 'Elm');
INSERT INTO hiring VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 3);
"""
HIRED = "Find the number of employees hired in each shop; show the shop name as well."
HIRED_SQL = [
    "SELECT s.name, count(*) FROM hiring h JOIN shop s ON h.shop_id = s.id GROUP BY s.name",
    "SELECT s.name, count(h.employee_id) FROM shop s LEFT JOIN hiring h ON h.shop_id = s.id GROUP BY s.name",
]
HOSTS = "Give the name of each host and the titles of the shows they host."
HOSTS_SQL = [
    "SELECT h.name, s.title FROM host AS h JOIN show AS s ON h.host_id = s.show_id",
    "SELECT h.name, s.title FROM host AS h JOIN show_host AS x ON h.host_id = x.host_id"
    " JOIN show AS s ON x.show_id = s.show_id",
]


def make_databases(root):
    """The sample databases, as NAME/NAME.sqlite."""
    scripts = {path.stem: path.read_text("utf-8") for path in SAMPLES.glob("*.sql")}
    for name, script in {**scripts, "shops": SHOPS}.items():
        Path(root, name).mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(Path(root, name, f"{name}.sqlite"))) as connection:
            connection.executescript(script)
    return Path(root)


def make_certificate(folder):
    """Returns (certificate, key) of localhost, self-signed and valid for a day."""
    certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "1", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


class Server:
    """`assay serve` in a process of its own."""

    def __init__(self, databases, *options, port=0):
        command = [os.environ["ASSAY_TEST_PROGRAM"], "serve", "--db-root", str(databases), "--http",
                   f"127.0.0.1:{port}", "--log-form", "json", *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if "accepting requests" in line:
                self.port = json.loads(line)["port"]
                self.url = f"{'https' if '--tls-cert' in options else 'http'}://127.0.0.1:{self.port}"
                return
        raise AssertionError(f"assay serve does not start: {''.join(said)}")

    def end(self, kill=False):
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="session")
def databases(tmp_path_factory):
    return make_databases(tmp_path_factory.mktemp("databases"))


@pytest.fixture(scope="session")
def server(databases):
    server = Server(databases)
    yield server
    server.end()
