"""The client with a real broker and a real fleet; ASSAY_TEST_KAFKA names the broker (tests/live/servers.sh start DIR
kafka)."""
import json
import os
import re
import subprocess
import sys
import time

import pytest
from served import HIRED, HIRED_SQL, HOSTS, HOSTS_SQL, ROOT

SERVERS = os.environ.get("ASSAY_TEST_KAFKA")
pytestmark = pytest.mark.skipif(not SERVERS,
                                reason="ASSAY_TEST_KAFKA is not set: tests/live/servers.sh start DIR kafka")

confluent_kafka = pytest.importorskip("confluent_kafka")
admin = pytest.importorskip("confluent_kafka.admin")
sys.path.insert(0, str(ROOT / "tests/live/fleet"))
from ports import free_port  # noqa: E402

from assay import AssayError, NotYet, Unreachable, request  # noqa: E402
from assay.kafka import Requests, Verdicts  # noqa: E402

RUN = f"python-{time.time_ns()}"  # ids that no earlier run used


@pytest.fixture(scope="module")
def fleet(databases):
    program = os.environ["ASSAY_TEST_PROGRAM"]
    subprocess.run([program, "topics", "create", "--servers", SERVERS], check=True, stdout=subprocess.DEVNULL)
    commands = [["coordinator", "--servers", SERVERS, "--instance", RUN],
                ["worker", "--servers", SERVERS, "--db-root", databases]]
    processes = [subprocess.Popen([program, *command], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                 for command in commands]
    yield
    for process in processes: process.terminate()
    for process in processes: process.wait(timeout=60)


@pytest.fixture
def topic():
    """A topic for verdicts that the test writes itself."""
    name = f"{RUN}-{time.time_ns()}"
    client = admin.AdminClient({"bootstrap.servers": SERVERS})
    client.create_topics([admin.NewTopic(name, 2, 1)])[name].result(timeout=30)
    return name


def hosts(i):
    return request(HOSTS, "podcasts", HOSTS_SQL, id=f"{RUN}-{i}")


def test_requests_and_their_verdicts(fleet):
    with Verdicts(SERVERS) as verdicts:
        with Requests(SERVERS) as requests:
            sent = [requests.send(hosts(i))
                    for i in range(20)] + [requests.send(request("How many?", "nowhere", ["SELECT 1"]))]
        waiting, got = set(sent), []
        for verdict in verdicts.read(timeout=60):
            if verdict.id in waiting:
                waiting.remove(verdict.id)
                got.append(verdict)
            if not waiting: break
    assert not waiting and [verdict.sql for verdict in got if verdict.id != sent[-1]] == 20 * [HOSTS_SQL[1]]
    assert next(verdict for verdict in got if verdict.id == sent[-1]).status == "failed"
    assert {verdict.id for verdict in all_of(from_beginning=True)} >= set(sent)


def test_documented_snippet_runs(fleet, capsys):
    (snippet,) = (text for text in re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text("utf-8"),
                                              re.S | re.M) if "assay.kafka" in text)
    names = {"request": request, "question": HIRED, "candidates": HIRED_SQL}
    exec(snippet.replace("kafka:9092", SERVERS).replace('"q1"', f'"{RUN}-q1"'), names)
    assert capsys.readouterr().out == "validated\n"


def all_of(timeout=3, **options):
    with Verdicts(SERVERS, **options) as verdicts:
        return list(verdicts.read(timeout=timeout))


def write(topic, records, commit=True):
    """Writes (id, offset of its request, value or None, headers) records in one transaction."""
    producer = confluent_kafka.Producer({"bootstrap.servers": SERVERS, "transactional.id": f"{RUN}-{time.time_ns()}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for id, offset, value, headers in records:
        value = value or json.dumps({"id": id, "db": "d", "status": "validated"}).encode()
        producer.produce(topic, value, id, partition=0, headers={"request-group": "g", "request-partition": "0",
                                                                 "request-offset": str(offset), **headers})
    producer.flush(30)
    producer.commit_transaction(30) if commit else producer.abort_transaction(30)


def test_only_committed_verdicts_are_read_once(topic):
    with Verdicts(SERVERS, topic=topic) as verdicts:
        write(topic, [("aborted", 0, None, {})], commit=False)
        write(topic, [("a", 0, None, {}), ("a", 0, None, {}), ("b", 1, None, {"content-type": "application/json"}),
                      ("c", 2, b"no JSON", {}),
                      ("d", 3, b"\x93\x01\x02\x80", {"content-type": "application/msgpack"}), ("e", 4, None, {})])
        assert [verdict.id for verdict in verdicts.read(timeout=3)] == ["a", "b", "e"]
        assert verdicts.skipped == 2


def test_start_is_end_or_beginning(topic):
    write(topic, [("old", 0, None, {})])
    with Verdicts(SERVERS, topic=topic) as verdicts:
        write(topic, [("new", 1, None, {})])
        assert [verdict.id for verdict in verdicts.read(timeout=3)] == ["new"]
    assert [verdict.id for verdict in all_of(topic=topic, from_beginning=True)] == ["old", "new"]


def test_group_resumes_at_its_offset(topic):
    write(topic, [(str(i), i, None, {}) for i in range(10)])
    first = []
    with Verdicts(SERVERS, topic=topic, group=topic) as verdicts:
        for verdict in verdicts.read(timeout=30):
            first.append(verdict.id)
            if len(first) == 4: break  # the fourth verdict may be unprocessed, so it is redelivered
    assert first == ["0", "1", "2", "3"]
    assert ([verdict.id for verdict in all_of(topic=topic, group=topic, timeout=8)]
            == ["3", "4", "5", "6", "7", "8", "9"])


def test_refused_connection_is_reported():
    nowhere = f"127.0.0.1:{free_port()}"
    requests = Requests(nowhere, properties={"message.timeout.ms": 1000})
    requests.send(hosts("lost"))
    with pytest.raises((Unreachable, NotYet)):
        requests.flush(timeout=10)
    with pytest.raises(Unreachable):
        Verdicts(nowhere, timeout=1)


def test_missing_topic_is_reported():
    with pytest.raises(AssayError, match="does not exist"):
        Verdicts(SERVERS, topic="assay.nowhere")
    requests = Requests(SERVERS, topic="assay.nowhere", properties={"message.timeout.ms": 3000})
    requests.send(hosts("lost"))
    with pytest.raises(Unreachable, match=f"{RUN}-lost"):
        requests.flush(timeout=30)
