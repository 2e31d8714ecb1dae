import sys

import pytest
from served import ROOT

from assay import Judge

sys.path.insert(0, str(ROOT / "clients/python/examples"))


@pytest.fixture(scope="session")
def judge(server):
    with Judge(server.url) as judge:
        yield judge
