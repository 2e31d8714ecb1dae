import sys

import pytest
from served import ROOT, Server, make_databases

from assay import Judge

sys.path.insert(0, str(ROOT / "clients/python/examples"))


@pytest.fixture(scope="session")
def databases(tmp_path_factory):
    return make_databases(tmp_path_factory.mktemp("databases"))


@pytest.fixture(scope="session")
def server(databases):
    server = Server(databases)
    yield server
    server.end()


@pytest.fixture(scope="session")
def judge(server):
    with Judge(server.url) as judge:
        yield judge
