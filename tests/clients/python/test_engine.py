"""Tests the engine in process, with the library of the wheel."""
import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
import time

import pytest
from served import HIRED, HIRED_SQL, HOSTS, HOSTS_SQL
from wait import wait_until

import assay
from assay import Database, Engine, EngineError, Judge, request

SLOW_SQL = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000) SELECT count(*) FROM n"
SLOW = request("How many numbers are there?", "podcasts", [SLOW_SQL])


@pytest.fixture(scope="module")
def engine(databases):
    with Engine(database_root=databases, threads=2) as engine:
        yield engine


def path_of(databases, name):
    return databases / name / f"{name}.sqlite"


def test_check(databases):
    verdict = assay.check(HOSTS, path_of(databases, "podcasts"), HOSTS_SQL, id="mine", expose="rows")
    assert (verdict.id, verdict.db, verdict.chosen) == ("mine", "podcasts", 1)
    assert verdict.answer.execution.sample["columns"] == ["name", "title"]
    assert assay.check(HIRED, path_of(databases, "shops"), HIRED_SQL, policy="ask").status == "ask"
    assert assay.check("How many?", "/nowhere.sqlite", ["SELECT 1"]).reason == "db_missing"
    with pytest.raises(TypeError, match="polizy"):
        assay.check(HOSTS, path_of(databases, "podcasts"), HOSTS_SQL, polizy="ask")


def test_check_keeps_only_latest_engines(databases, tmp_path):
    sql = ["SELECT count(*) FROM shop"]
    for i in range(12):
        os.symlink(path_of(databases, "shops"), tmp_path / f"s{i}.sqlite")
        assert assay.check("How many shops are there?", tmp_path / f"s{i}.sqlite", sql).db == f"s{i}"
    assert len(assay.engine._checks.engines) == 8
    answers = []

    def ask(i):  # of more databases than stay open, so that engines are closed often
        answers.extend(assay.check("How many shops are there?", tmp_path / f"s{i}.sqlite", sql).status
                       for _ in range(3))
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert answers == 36 * ["validated"]
    assert len(assay.engine._checks.engines) == 8


def test_engine_and_server_agree(engine, server):
    asked = request(HOSTS, "podcasts", HOSTS_SQL, id="same")
    with Judge(server.url) as judge:
        one, other = judge.judge(asked), engine.judge(asked)
    assert (one.sql, one.p_correct, one.raw["request_digest"]) == (other.sql, other.p_correct,
                                                                   other.raw["request_digest"])
    assert [c.findings for c in one.candidates] == [c.findings for c in other.candidates]


def test_catalogue_policy_binds_all_requests(databases):
    hidden = Database("p", path_of(databases, "podcasts"), expose="rows", deny_columns=["host.name", "show.title"])
    with Engine([hidden], defaults={"expose": "rows"}) as engine:
        verdict = engine.judge(request(HOSTS, "p", HOSTS_SQL))
        assert verdict.status != "failed" and verdict.candidates[1].execution.digest is None  # it uses a denied column
    with Engine({"p": path_of(databases, "podcasts")}, defaults={"expose": "rows", "policy": "abstain"}) as engine:
        assert engine.judge(request(HOSTS, "p", HOSTS_SQL)).candidates[1].execution.sample["rows"]


def test_statement_in_own_process(databases):
    with Engine(database_root=databases, executor=os.environ["ASSAY_TEST_PROGRAM"], statement_ms=50) as engine:
        assert engine.judge(SLOW).candidates[0].execution.error == "limit_time"


@pytest.mark.parametrize("bad, code", [({"question": "q"}, "malformed"),
                                       ({"db": "podcasts", "candidates": [{"sql": 7}]}, "malformed")])
def test_invalid_request_is_refused(engine, bad, code):
    for call in (engine.judge, engine.submit):
        with pytest.raises(EngineError) as caught:
            call(bad)
        assert caught.value.code == code and not caught.value.retry and not caught.value.fatal
    assert not engine._futures


def test_invalid_engine_options_are_refused(tmp_path, databases):
    with pytest.raises(EngineError) as caught:
        Engine(models=tmp_path / "nowhere")
    assert caught.value.fatal
    with pytest.raises(TypeError, match="statement_s; there are .*statement_ms"):
        Engine(statement_s=1)
    with pytest.raises(ValueError, match="below 0"):
        Engine(threads=-1)
    with pytest.raises(EngineError) as caught:
        Engine({"p": path_of(databases, "podcasts")}, defaults={"policy": "hope"})
    assert caught.value.code == "config"


def test_threads_share_an_engine(engine):
    wrong = []

    def ask(i):
        for j in range(10):
            verdict = engine.judge(request(HOSTS, "podcasts", HOSTS_SQL, id=f"{i}-{j}"))
            if (verdict.id, verdict.chosen) != (f"{i}-{j}", 1): wrong.append(verdict)
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not wrong


def test_judging_releases_gil(engine):
    turns, over = 0, threading.Event()

    def count():
        nonlocal turns
        while not over.wait(0.001):
            turns += 1
    thread = threading.Thread(target=count)
    thread.start()
    before, began = turns, time.monotonic()
    assert engine.judge(SLOW).status
    seconds, made = time.monotonic() - began, turns - before
    over.set()
    thread.join()
    assert seconds > 0.1 and made > 20 * seconds  # if the call held the GIL, the counter would be 0


def test_futures_return_verdicts(engine):
    called = []
    futures = [engine.submit(request(HOSTS, "podcasts", HOSTS_SQL, id=str(i))) for i in range(30)]
    futures[-1].add_done_callback(lambda future: called.append(future.result().id))
    assert [future.result(timeout=60).id for future in futures] == [str(i) for i in range(30)]
    assert engine.judge(SLOW).status and called == ["29"]
    assert not engine._futures


def test_full_window_blocks_caller(databases):
    with Engine(database_root=databases, threads=1, window=1) as engine:
        first = engine.submit(SLOW)
        with pytest.raises(EngineError) as caught:
            engine.submit(SLOW, timeout=0)
        assert caught.value.code == "full" and caught.value.retry
        assert first.result(timeout=60).status


def test_asyncio(databases):
    async def ask(engine):
        verdicts = await asyncio.gather(*(engine.ajudge(request(HOSTS, "podcasts", HOSTS_SQL, id=str(i)))
                                          for i in range(40)))
        with pytest.raises(EngineError, match="malformed"):
            await engine.ajudge({})
        return [verdict.id for verdict in verdicts]
    with Engine(database_root=databases, threads=2, window=4) as engine:  # more than the window: some wait for a slot
        assert asyncio.run(ask(engine)) == [str(i) for i in range(40)]


def test_closing_lets_judge_finish(databases):
    engine, verdicts = Engine(database_root=databases, threads=1), []
    thread = threading.Thread(target=lambda: verdicts.append(engine.judge(SLOW)))
    thread.start()
    wait_until(lambda: engine._inside, 10, "it judges", look_s=0.001)
    engine.close()
    thread.join(timeout=1)
    assert verdicts[0].candidates[0].sql == SLOW_SQL


def test_closing_cancels_futures(databases):
    engine = Engine(database_root=databases, threads=1)
    futures = [engine.submit(SLOW) for _ in range(5)]
    engine.close()
    outcomes = [future.exception(timeout=0) for future in futures]  # each call was answered
    assert [error.code for error in outcomes[1:]] == 4 * ["cancelled"]
    for call in (engine.judge, engine.submit):
        with pytest.raises(EngineError, match="closed"):
            call(SLOW)
    engine.close()


def test_callback_runs_on_engine_thread(databases):
    said = []

    def judge_and_close(future):
        for call in (lambda: engine.judge(SLOW), engine.close):
            with pytest.raises(EngineError) as caught: call()
            said.append(caught.value.code)
    with Engine(database_root=databases, threads=1) as engine:
        future = engine.submit(SLOW)  # long enough for the callback to be set before the answer
        future.add_done_callback(judge_and_close)
        future.result(timeout=60)
        assert engine.judge(request(HOSTS, "podcasts", HOSTS_SQL)).chosen == 1
    assert said == ["refused", "refused"]


def in_child(target, *arguments):
    """Returns the output of a child that is forked now."""
    ours, theirs = multiprocessing.Pipe()

    def run():
        try: theirs.send(target(*arguments))
        except Exception as error: theirs.send((type(error).__name__, str(error)))
    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    assert ours.poll(60), "the child hangs"
    said = ours.recv()
    child.join(timeout=60)
    assert child.exitcode == 0
    return said


def test_forked_child_needs_own_engine(engine, databases):
    asked = request(HOSTS, "podcasts", HOSTS_SQL)
    assert engine.judge(asked).chosen == 1
    for call in (engine.judge, engine.submit):
        kind, text = in_child(call, asked)
        assert kind == "Forked" and f"process {os.getpid()}" in text and "open one in this process" in text

    def with_its_own():
        engine.close()  # the engine of the parent: closing has no effect
        with Engine(database_root=databases) as own:
            return own.judge(asked).chosen, assay.check(HOSTS, path_of(databases, "podcasts"), HOSTS_SQL).chosen
    assert in_child(with_its_own) == (1, 1)
    assert engine.judge(asked).chosen == 1


def test_child_forked_during_judging_is_refused(engine, databases):
    future = engine.submit(SLOW)
    kind, text = in_child(lambda: Engine(database_root=databases))
    assert kind == "Forked" and "spawn" in text
    assert future.result(timeout=60).status


def test_interpreter_exits_with_open_engine(databases):
    code = f"""
import assay, threading
engine = assay.Engine(database_root={str(databases)!r}, threads=1)
slow = assay.request("q", "podcasts", [{SLOW_SQL!r}])
futures = [engine.submit(slow) for _ in range(5)]
threading.Thread(target=engine.judge, args=(slow,), daemon=True).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("address, name", [("postgresql://127.0.0.1:1/shop", "postgres"),
                                           ("host=127.0.0.1 port=1 dbname=shop", "postgres"),
                                           ("mariadb://nobody@127.0.0.1:1/shop", "mariadb")])
def test_server_address_is_not_a_file(address, name):
    assert assay.check("How many?", address, ["SELECT 1"]).db == name


def test_missing_library_is_reported():
    done = subprocess.run([sys.executable, "-c", "import assay; assay.Engine()"], capture_output=True, text=True,
                          env={**os.environ, "ASSAY_LIBRARY": "/nowhere.so"})
    assert "ImportError: libassay cannot be loaded (/nowhere.so" in done.stderr


def test_late_library_comes_from_wheel():
    code = """
import assay, pathlib
assay.check("How many?", "postgresql://127.0.0.1:1/shop", ["SELECT 1"])
with open("/proc/self/maps") as maps: [path] = {line.split()[-1] for line in maps if "/libpq" in line}
print(pathlib.Path(assay.__file__).parent in pathlib.Path(path).parents)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True\n", "")
