#!/usr/bin/env python3
"""Measures the figures of docs/results.md on an idle machine: each claim, its figure, and whether it holds.

  all.py [--build build/release] [--data ../shared/data] [--only NAME...] [--list] [--json FILE] [--csv DIR]
         [--timeout S] [--loaded]

A row of BENCHES has a command and the patterns that read its figures from the output. A row that lacks data, servers or
a program is skipped, with the reason. A build with -DASSAY_MUTATIONS=ON, packages of PyPI or a PostgreSQL are made or
started if a row needs them. The script refuses to start on a busy machine, unless --loaded is given. Each row reports
the share of the processors that other processes used in the second before it. With --csv the measured rows are written
to DIR/claims.csv; rows of benches that did not run keep their old figures. The exit status is 1 if a claim does not
hold.
"""
import argparse, collections, contextlib, glob, json, operator, os, platform, re, shutil, signal, subprocess, sys, tempfile, time

import pythons, results

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUSY = 0.1  # maximum share of the processors that others may use

Claim = collections.namedtuple("Claim", "says pattern op bound")
"""`pattern` finds the figure, its first group, in the output; it has to be `op` `bound`, or within a unit of the last digit of it where op
is "=="."""
Bench = collections.namedtuple("Bench", "name command claims needs", defaults=((),))
"""`command` has {places} of places(); a program of {build} that is not built, or something else of `needs` that is not there, skips it."""

LOGS = ["--log", "chatgpt={spider}/logs/dev.chatgpt.jsonl={databases}=sampled",
        "--log", "resdsql={spider}/logs/dev.resdsql.jsonl={databases}=ranked",
        "--log", "superhero={superhero_log}={superhero}/database=sampled"]
UNORDERED = [part.rpartition("=")[0] if "=" in part else part for part in LOGS]
CHATGPT, RESDSQL = "{spider}/logs/dev.chatgpt.jsonl", "{spider}/logs/dev.resdsql.jsonl"
ROOTED = ["--db-root", "{databases}"]
ANALYTIC = "tests/data/analytic"
ALL = ["spider", "superhero"]
NUMBER = r"([\d,]+(?:\.\d+)?)"


DEBIANS = "/usr/bin/python3"  # this Python has python3-confluent-kafka


def bench(script, *options, python="python3"): return [python, "bench/" + script, *options]


def cells(*before, then=0):
    """Returns the pattern of a table row with these first cells. The figure begins the cell after `then` more cells."""
    return r"^\| *" + r" *\| *".join(before) + r" *\|" + r"[^|\n]*\|" * then + r" *" + NUMBER


def line(start): return start + r"\D*?" + NUMBER


# The figures that the reports give for each log.
EX_OF_RERANK = {"chatgpt": 77.2, "resdsql": 79.8, "superhero": 83.7}
AUC_OF_RERANK = {"chatgpt": 90.4, "resdsql": 87.4, "superhero": 97.6}
EX_WITH_REPAIRS = {"chatgpt": 79.0, "resdsql": 80.7, "superhero": 83.7}
EX_OF_FIRST_WITH_REPAIRS = {"chatgpt": 71.7, "resdsql": 79.3, "superhero": 67.4}
QUESTIONS = {"chatgpt": 0.19, "resdsql": 0.21, "superhero": 0.25}
EX_WITH_ANSWERS = {"chatgpt": 80.2, "resdsql": 82.4, "superhero": 88.4}


def by_log(says, pattern, figures):
    """Returns a claim for each log. `pattern` turns the name of a log into the pattern of its figure."""
    return [Claim(f"{log}: {says}", pattern(log), "==", figure) for log, figure in figures.items()]


def repaired(log): return rf"^\| {log} \| 0\.5 \|.*→ *" + NUMBER


def pairs(name, preferred, wrong, right, auc, folder="tests/data/pairs", databases=ROOTED, needs=("spider",)):
    return Bench(
        name=f"pairs {name}",
        command=bench("pairs.py", "--assay", "{assay}", *databases, f"{folder}/{name.split()[-1]}.jsonl"),
        claims=[
            Claim("minimal pairs preferred, %", cells("all", then=1), "==", preferred),
            Claim("wrong alone validated, %", cells("all", then=3), "==", wrong),
            Claim("right alone validated, %", cells("all", then=4), "==", right),
            Claim("AUC alone", cells("all", then=5), "==", auc),
        ],
        needs=list(needs),
    )


def judgement(name, log, within):
    return Bench(
        name=f"judgement {name}",
        command=["{build}/bench/bench_judge", log, "{databases}"],
        claims=[
            Claim("judged alone, median ms", line(r"^median"), "<=", 0.25),
            Claim("judged alone, p95 ms", line(r"^p95"), "<=", 0.8),
            Claim("within 4 x run + 0.5 ms, %", r"^within[^:]*: " + NUMBER, ">=", within),
        ],
        needs=["spider"],
    )


def fleet(messages, beside, rate, p50, p95, p99):
    """Returns the claims on the fleet. Bounds: ms of Kafka and Redis for a candidate, requests a second, and ms of
    latency at 20, 50 and 80 % of 423 requests/s."""
    return Bench(
        name=f"judging by a fleet, messages: {messages}",
        command=bench("fleet.py", "judge", "{build}", CHATGPT, *ROOTED, "--runs", "3", "--seconds", "6",
                      "--task-messages", messages, "--full", "423", python=DEBIANS),
        claims=[
            Claim("CPU a candidate, of embedded", r"^CPU ms a candidate.*?ratio " + NUMBER, "<=", 1.25),
            Claim("Kafka and Redis, ms a candidate", r"^CPU ms a candidate.*?Redis " + NUMBER, "<=", beside),
            Claim("requests/s", r"^throughput: " + NUMBER, ">=", rate),
            Claim("p50 at 20 % load, ms", r"^latency at 20 % load.*?p50 " + NUMBER, "<=", 35),
            Claim("p50 at 50 % load, ms", r"^latency at 50 % load.*?p50 " + NUMBER, "<=", p50),
            Claim("p95 at 50 % load, ms", r"^latency at 50 % load.*?p95 " + NUMBER, "<=", p95),
            Claim("p99 at 80 % load, ms", r"^latency at 80 % load.*?p99 " + NUMBER, "<=", p99),
        ],
        needs=["spider", "kafka", "redis"],
    )


WHAT_IS_JUDGED = [
    # A wrong query of "held" runs for 2.4 of its 3 s. A busy machine stops it, and the figure is then 39.7.
    pairs("held", preferred=87.3, wrong=37.5, right=89.9, auc=0.849),
    pairs("dev", preferred=94.7, wrong=37.3, right=89.3, auc=0.877),
    pairs("analytic held", preferred=84.1, wrong=45.5, right=87.9, auc=0.774, folder=ANALYTIC,
          databases=["--schemas", ANALYTIC], needs=()),
    Bench(
        name="pairs made",
        command=bench("analytic_pairs.py", "--assay", "{assay}", "--set", "held"),
        claims=[
            Claim("made pairs preferred in both orders, %", cells("all", then=2), "==", 94.6),
            Claim("wrong alone validated, %", cells("all", then=3), "==", 18.6),
            Claim("right alone validated, %", cells("all", then=4), "==", 91.3),
            Claim("AUC alone", cells("all", then=5), "==", 0.899),
            Claim("equal P", r"^equal P: " + NUMBER, "<=", 1),
        ],
    ),
    Bench(
        name="false alarms",
        command=bench("gold.py", "--assay", "{assay}", "sqlite"),
        claims=[
            Claim("right queries with an error, %", cells("sqlite", then=1), "==", 2.7),
            Claim("right queries validated, %", cells("sqlite", then=2), "==", 87.3),
        ],
    ),
    Bench(
        name="selection",
        command=bench("strategy_report.py", "--assay", "{assay}", *LOGS, "--strategy", "rerank"),
        claims=[
            *by_log("EX of rerank, %", lambda log: cells(log, "`rerank`") + r" \(", EX_OF_RERANK),
            *by_log("AUC, %", lambda log: cells(log, "`rerank`", then=5), AUC_OF_RERANK),
        ],
        needs=ALL,
    ),
    Bench(
        name="trust",
        command=bench("strategy_report.py", "--assay", "{assay}", *LOGS, "--trust"),
        claims=[
            Claim("chatgpt called ranked: EX, %", cells("chatgpt", "ranked"), "==", 74.3),
            Claim("resdsql called nothing: EX, %", cells("resdsql", "nothing"), "==", 79.2),
        ],
        needs=ALL,
    ),
    Bench(
        name="repair",
        command=bench("repair.py", "--assay", "{assay}", *LOGS),
        claims=by_log("EX with repairs at 0.5, %", repaired, EX_WITH_REPAIRS),
        needs=ALL,
    ),
    Bench(
        name="repair of the first",
        command=bench("repair.py", "--assay", "{assay}", *LOGS, "--first"),
        claims=by_log("EX with repairs at 0.5, %", repaired, EX_OF_FIRST_WITH_REPAIRS),
        needs=ALL,
    ),
    Bench(
        name="a corrector",
        command=bench("simulated_corrector.py", "--assay", "{assay}", "--log", CHATGPT, *ROOTED, "--order", "sampled"),
        claims=[Claim("EX behind the gate, r 0.6, b 0.2, %", r"^\| 0\.6 \| 0\.2 \|.*\| *" + NUMBER + r" *\|$",
                      "==", 80.8)],
        needs=["spider"],
    ),
    Bench(
        name="language models",
        command=bench("simulated_llm.py", "--assay", "{assay}", "--log", CHATGPT, *ROOTED, "--order", "sampled"),
        claims=[],
        needs=["spider"],
    ),
    Bench(
        name="retrieval of examples",
        command=bench("examples_retrieval.py", "--assay", "{assay}", *ROOTED, "--store",
                      "{spider}/logs/train.picard.jsonl",
                      "--ask", "chatgpt=" + CHATGPT, "--ask", "resdsql=" + RESDSQL),
        claims=[Claim("chatgpt: hybrid changes the same clauses, first, %", cells("chatgpt", r"\d+", "hybrid"),
                      "==", 14.7)],
        needs=["spider"],
    ),
    Bench(
        name="transfer",
        command=bench("transfer.py", "--assay", "{assay}", "--transfer", "{build}/bench/bench_transfer",
                      "--examples", CHATGPT, *ROOTED, "--log", "chatgpt=" + CHATGPT),
        claims=[],
        needs=["spider"],
    ),
    Bench(
        name="questions to the person",
        command=bench("simulated_user.py", "--assay", "{assay}", *LOGS, "--gain", "0.05", "--seeds", "5"),
        claims=[
            *by_log("questions a request", lambda log: cells(log, r"0\.05", "never errs"), QUESTIONS),
            *by_log("EX with answers, %", lambda log: cells(log, r"0\.05", "never errs", then=2), EX_WITH_ANSWERS),
        ],
        needs=ALL,
    ),
    Bench(
        name="promises",
        command=bench("guarantee.py", "--assay", "{assay}", *LOGS, "--alpha", "0.1"),
        claims=[Claim("chatgpt, alpha 0.1: answered, %", cells("chatgpt", "question", "promise"), "==", 60.2)],
        needs=ALL,
    ),
    Bench(
        name="signals",
        command=bench("signal_report.py", "--assay", "{assay}", *UNORDERED, "--gold",
                      "dev=" + CHATGPT + "={databases}"),
        claims=[Claim("fan_out: pooled precision, %", r"^\| *fan_out *\|[^|]*\|[^|]*\|[^|]*\|[^|]*\| *" + NUMBER,
                      ">=", 83)],
        needs=ALL,
    ),
    Bench(
        name="explanations",
        command=["{build}/bench/bench_explain", CHATGPT, *ROOTED],
        claims=[
            Claim("candidates without an explanation", line(r"^failed"), "<=", 0),
            Claim("premises told alike", r"equal operations " + NUMBER, "<=", 0),
        ],
        needs=["spider"],
    ),
    Bench(
        name="provenance",
        command=["{build}/bench/bench_provenance", CHATGPT, *ROOTED],
        claims=[Claim("covered, %", NUMBER + " % covered", ">=", 99)],
        needs=["spider"],
    ),
]

WHAT_IT_COSTS = [
    judgement("chatgpt", CHATGPT, within=98),
    judgement("resdsql", RESDSQL, within=97),
    Bench(
        name="allocations",
        command=["{build}/bench/bench_allocations", CHATGPT, "{databases}"],
        claims=[Claim("of a warm judgement", r"^" + NUMBER + " allocations", "<=", 60)],
        needs=["spider"],
    ),
    Bench(
        name="replay",
        command=bench("replay.py", "{assay}", CHATGPT, *ROOTED, "--venv", "{venv}"),
        claims=[
            Claim("with everything, of the peer's candidates/s", r"^assay replay +" + NUMBER + "x", ">=", 0.75),
            Claim("--explain=no, of the peer's candidates/s", r"^assay replay --explain=no +" + NUMBER + "x",
                  ">=", 1.4),
        ],
        needs=["spider"],
    ),
    Bench(
        name="a start",
        command=bench("start.py", "{assay}"),
        claims=[Claim("of a check, median ms", cells(r".*/cli/assay"), "<=", 12)],
    ),
    Bench(
        name="parsing",
        command=["{build}/bench/bench_parse", "9"],
        claims=[
            Claim("of pg_query_parse_protobuf's queries/s", r"^pg_query_parse_protobuf.*? " + NUMBER + "x", ">=", 10),
            Claim("of sqlite3_prepare_v2's queries/s", r"^sqlite3_prepare_v2.*? " + NUMBER + "x", ">=", 4),
        ],
        needs=["spider"],
    ),
    Bench(
        name="meaning",
        command=["{build}/bench/bench_meaning", "9"],
        claims=[Claim("of a candidate, median us", r"^read the meaning +" + NUMBER, "<=", 15)],
        needs=["spider"],
    ),
    Bench(
        name="JSON",
        command=["{build}/bench/bench_json", CHATGPT, "{databases}"],
        claims=[
            Claim("read a request, us", r"^read a request +(?:here|ours|assay)\S*.*? " + NUMBER + r"$", "<=", 13),
            Claim("write a verdict, us", r"^write a verdict +(?:here|ours|assay)\S*.*? " + NUMBER + r"$", "<=", 14),
        ],
        needs=["spider"],
    ),
    Bench(
        name="time of signals",
        command=["{build}/bench/bench_signals", CHATGPT, *ROOTED],
        claims=[Claim("that execute nothing, median us", line(r"^all but those that execute"), "<=", 60)],
        needs=["spider"],
    ),
    Bench(
        name="time of the verifier",
        command=["{build}/bench/bench_verifier", "models/verifier.json", RESDSQL, "{databases}"],
        claims=[
            Claim("features, median us", r"^features +median +" + NUMBER, "<=", 76),
            Claim("model, median us", r"^model +median +" + NUMBER, "<=", 42),
        ],
        needs=["spider"],
    ),
    Bench(
        name="comparing verdicts",
        command=bench("diff.py", "{assay}", CHATGPT, *ROOTED, "--verdicts", "500000", "--slim"),
        claims=[
            Claim("CPU, s", NUMBER + " s of CPU", "<=", 96),
            Claim("peak, MB", "of CPU, " + NUMBER + " MB", "<=", 39),
        ],
        needs=["spider"],
    ),
    Bench(
        name="a run of a million",
        command=bench("runs.py", "{assay}", "{verdicts}"),
        claims=[
            Claim("indexing, MB of memory", r"index .*memory " + NUMBER, "<=", 200),
            Claim("opening, s", r"^opened with it in " + NUMBER, "<=", 3),
            Claim("as a page, s", r"^page written in " + NUMBER, "<=", 3),
        ],
        needs=["spider"],
    ),
    Bench(
        name="index of a corpus",
        command=["{build}/bench/bench_index", "--over", "{databases}"],
        claims=[
            Claim("157 databases, ms", r"databases in " + NUMBER, "<=", 2100),
            Claim("median, ms", r"median " + NUMBER, "<=", 1),
        ],
        needs=["spider"],
    ),
    Bench(
        name="index of ten million rows",
        command=["{build}/bench/bench_index", "10000000", "1000000", "1200000"],
        claims=[Claim("all strings indexed, MiB peak", r"peak RSS " + NUMBER, "<=", 86.7)],
    ),
    Bench(
        name="examples",
        command=["{build}/bench/bench_examples", "{scratch}/examples"],
        claims=[Claim("all three keys of a million, median ms", cells("all three", r"\d+"), "<=", 11.4)],
    ),
    Bench(
        name="a child",
        command=["{build}/bench/bench_executor", "10000"],
        claims=[Claim("a constant, more in a child, median us", r"^\| a constant \|[^|]*\|[^|]*\| *" + NUMBER,
                      "<=", 25)],
    ),
    Bench(
        name="the clock",
        command=["{build}/bench/bench_overrun", "--part", "chains"],
        claims=[],
    ),
    Bench(
        name="schema cache",
        command=["{build}/bench/bench_cache"],
        claims=[
            Claim("from Redis against building", r"ratio " + NUMBER, ">=", 20),
            Claim("200 databases, indexes built", NUMBER + r" built \(claim", "<=", 200),
        ],
        needs=["redis"],
    ),
    Bench(
        name="from Python",
        command=["env", "PYTHONPATH=clients/python/assay/src", "ASSAY_LIBRARY={build}/engine/libassay.so.1",
                 *bench("python.py", "--library", "{build}/bench/bench_library", "--log", CHATGPT, *ROOTED,
                        python="{venv}/bin/python3")],
        claims=[Claim("over C a candidate, us", cells(r"\d+", then=4), "<=", 55)],
        needs=["spider", "httpx"],
    ),
]

FLEET_AND_FRONT_DOOR = [
    Bench(
        name="serve",
        command=bench("serve.py", "--assay", "{assay}", "--load-from", "{build}/bench/bench_http_callers",
                      "--log", "{first_400}", *ROOTED, "--order", "sampled"),
        claims=[
            Claim("16 callers: candidates/s, of replay", cells(r"\d+", then=2), ">=", 0.8),
            Claim("their p99, of their p50", cells(r"\d+", then=4), "<=", 4),
            Claim("one caller: p50 over judging, ms", cells(r"\d+", then=6), "<=", 2),
            Claim("1,000 idle connections, MB", cells(r"\d+", then=9), "<=", 20),
        ],
        needs=["spider"],
    ),
    Bench(
        name="hostile callers",
        command=bench("hostile.py", "{assay}", "--calls", "1"),
        claims=[],
        needs=["kafka", "redis"],
    ),
    Bench(
        name="hostile tenant",
        command=bench("hostile_tenant.py", "{assay}"),
        claims=[Claim(f"{route}: p99 beside a hostile tenant, ms more", cells(route, then=2), "<=", 500)
                for route in ("/v1/judge", "/v1/batch", "/mcp")],
        needs=[],
    ),
    Bench(
        name="a rollout",
        command=bench("rollout.py", "--assay", "{assay}"),
        claims=[],
        needs=["kafka", "redis"],
    ),
    Bench(
        name="messages",
        command=bench("fleet.py", "messages", "{build}", "--runs", "2", python=DEBIANS),
        claims=[
            Claim("JSON: of librdkafka's messages/s", cells("json", then=3), ">=", 0.24),
            Claim("msgpack: of librdkafka's messages/s", cells("msgpack", then=3), ">=", 0.2),
        ],
        needs=["kafka", "redis"],
    ),
    fleet("each", beside=0.5, rate=350, p50=50, p95=150, p99=500),
    fleet("request", beside=0.25, rate=550, p50=35, p95=150, p99=500),
    Bench(
        name="brokers that are far",
        command=bench("fleet.py", "far", "{build}", CHATGPT, *ROOTED, "--task-messages", "request", "--runs", "1",
                      "--seconds", "8", python=DEBIANS),
        claims=[
            Claim("p50 with one producer, ms", r"^1 producers.*?p50 " + NUMBER, "<=", 220),
            Claim("p50 with four, ms", r"^4 producers.*?p50 " + NUMBER, "<=", 120),
        ],
        needs=["spider", "kafka", "redis"],
    ),
    Bench(
        name="workers of a fleet",
        command=bench("fleet.py", "scale", "{mutations}", "--seconds", "14", python=DEBIANS),
        claims=[Claim("8 workers, of linear", r"^8 workers.*?" + NUMBER + " of linear", ">=", 0.9)],
        needs=["kafka", "redis", "mutations"],
    ),
    Bench(
        name="a statement in PostgreSQL",
        command=["{build}/bench/bench_postgres", "{postgres}", "1500"],
        claims=[Claim("in the sandbox, of the bare statement", NUMBER + "x$", "<=", 4.1)],
        needs=["postgres"],
    ),
]

BENCHES = [*WHAT_IS_JUDGED, *WHAT_IT_COSTS, *FLEET_AND_FRONT_DOOR]


# --- what the rows need ---

def missing(o, need):
    """Returns the reason why a need cannot be met. Returns None if it is met, after making or starting what it
    needs."""
    return {
        "spider": lambda: None if os.path.isdir(os.path.join(o.data, "spider", "database"))
        else f"no Spider in {o.data}",
        "superhero": lambda: None if os.path.isdir(os.path.join(o.data, "bird-superhero", "database"))
        else f"no superhero in {o.data}",
        "httpx": lambda: None,
        "redis": lambda: None if shutil.which("redis-server") else "no redis-server",
        "kafka": lambda: None if shutil.which("java") and shutil.which("kcat")
        else "no Java or kcat for tests/live/servers.sh",
        "postgres": lambda: None if glob.glob("/usr/lib/postgresql/*/bin/initdb")
        else "no PostgreSQL for tests/live/servers.sh",
        "mutations": lambda: None if shutil.which("cmake") else "no cmake for a build with -DASSAY_MUTATIONS=ON",
    }[need]()


@contextlib.contextmanager
def httpx(where):
    _, reason = pythons.python_with(where["venv"], "httpx")
    yield {}, reason


@contextlib.contextmanager
def mutations(where):
    """Makes a build in which guards can be left out and workers can be slowed."""
    steps = [["cmake", "--preset", "release", "-B", where["mutations"], "-DASSAY_MUTATIONS=ON", "-DBUILD_TESTING=OFF"],
             ["cmake", "--build", where["mutations"], "--target", "assay"]]
    failed = next((step for step in steps if subprocess.run(step, cwd=ROOT, capture_output=True).returncode), None)
    yield {}, f"{' '.join(failed)} failed" if failed else None


@contextlib.contextmanager
def postgres(where):
    """Yields the server of ASSAY_TEST_POSTGRES, or starts one for the row. It has a table, because a database without
    tables is refused."""
    named, servers, at = (os.environ.get("ASSAY_TEST_POSTGRES"), "tests/live/servers.sh",
                          os.path.join(where["scratch"], "servers"))
    if named:
        yield {"postgres": named}, None
        return
    os.chmod(where["scratch"], 0o711)  # lets the server's user pass through the folder
    try:
        started = subprocess.run([servers, "start", at, "postgres"], cwd=ROOT, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL).returncode == 0
        with open(os.path.join(at, "env"), encoding="utf-8") if started else contextlib.nullcontext("") as lines:
            found = re.search(r"^export ASSAY_TEST_POSTGRES='(.*)'$", "".join(lines), re.M)
        table = (found and subprocess.run(["psql", found[1], "-qc", "CREATE TABLE numbers(n int)"],
                                          capture_output=True).returncode == 0)
        yield {"postgres": found[1] if found else ""}, None if table else f"{servers} started no PostgreSQL"
    finally:
        subprocess.run([servers, "stop", at], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


BROUGHT = {"httpx": httpx, "mutations": mutations, "postgres": postgres}
"""What is made or started when a row needs it: yields places that it adds, and why it could not be had or None."""


def why_not(o, row):
    reasons = [missing(o, need) for need in row.needs]
    program = row.command[0].format(**places(o))
    if "/" in program and not os.path.exists(os.path.join(ROOT, program)): reasons.append(f"{program} is not built")
    return next(filter(None, reasons), None)


def first_log(folder):
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return next((os.path.join(folder, name) for name in names if name.endswith(".jsonl") and "gold" not in name), "")


def places(o):
    spider, superhero = os.path.join(o.data, "spider"), os.path.join(o.data, "bird-superhero")
    return {
        "build": o.build,
        "mutations": o.mutations,
        "assay": os.path.join(o.build, "cli", "assay"),
        "spider": spider,
        "databases": os.path.join(spider, "database"),
        "superhero": superhero,
        "superhero_log": first_log(os.path.join(superhero, "logs")),
        "postgres": os.environ.get("ASSAY_TEST_POSTGRES", "DSN"),
        "venv": os.path.join(ROOT, o.build, "bench-venv"),
        "scratch": o.scratch,
        "verdicts": os.path.join(o.scratch, "verdicts.jsonl"),
        "first_400": os.path.join(o.scratch, "first_400.jsonl"),
    }


def prepare(where):
    """Writes the input files of the rows: some lines of a log, and verdicts on them."""
    log = CHATGPT.format(**where)
    if not os.path.exists(log): return
    with open(log, encoding="utf-8") as lines, open(where["first_400"], "w", encoding="utf-8") as out:
        for _, text in zip(range(400), lines): out.write(text)
    replay = [where["assay"], "replay", where["first_400"], "--db-root", where["databases"]]
    subprocess.run([*replay, "--format", "jsonl", "--out", where["verdicts"], "--quiet"], cwd=ROOT, check=False)


# --- figures ---

def figure(pattern, output):
    """Returns the last match of the pattern, or None."""
    found = [next(filter(None, groups), None) if isinstance(groups, tuple) else groups
             for groups in re.findall(pattern, output, re.M)]
    found = [text for text in found if text]
    return float(found[-1].replace(",", "")) if found else None


def step(bound):
    """Returns one unit of the last digit that the claim shows."""
    return 10.0 ** -len(str(bound).partition(".")[2]) if "." in str(bound) else 1.0


OPERATORS = {">=": operator.ge, "<=": operator.le, "==": lambda measured, bound: abs(measured - bound)
             < 1.01 * step(bound)}


def holds(claim, measured): return measured is not None and OPERATORS[claim.op](measured, claim.bound)


# --- the machine ---

def jiffies():
    """Returns (busy, all) jiffies of the processors since the machine started."""
    with open("/proc/stat", encoding="ascii") as stat: times = [int(text) for text in stat.readline().split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


def busy_share(seconds=1.0):
    before = jiffies()
    time.sleep(seconds)
    after = jiffies()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def machine():
    return {**results.machine(), "system": platform.platform(), "load": round(os.getloadavg()[0], 2)}


# --- running ---

def output_of(command, timeout):
    """Runs a command. Returns (output, reason why it does not count, or None). Stops a command that takes too long, and
    all processes that it started."""
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", start_new_session=True)
    try:
        output, _ = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGINT)
        try:
            child.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        return "", f"took longer than {timeout:.0f} s"
    return output, f"exit status {child.returncode}: {output.strip()[-200:]}" if child.returncode else None


def run(o, row, where):
    """Runs a row. Yields each of its claims as a line of the report."""
    output, seconds, busy = "", 0, 0
    with contextlib.ExitStack() as stack:
        reason = why_not(o, row)
        for bring in [BROUGHT[need] for need in row.needs if need in BROUGHT]:
            if reason: break
            added, reason = stack.enter_context(bring(where))
            where = {**where, **added}
        if not reason:
            busy, began = busy_share(), time.monotonic()
            output, reason = output_of([part.format(**where) for part in row.command], o.timeout)
            seconds = time.monotonic() - began
    claims = row.claims or [Claim("it runs; read its output", None, None, None)]
    return [result(row, claim, reason, output, seconds, busy) for claim in claims]


def result(row, claim, reason, output, seconds, busy):
    measured = figure(claim.pattern, output) if claim.pattern and not reason else None
    if not reason and claim.pattern and measured is None:
        reason = "the figure is not in the output: " + output.strip()[-200:]
    return {
        "bench": row.name,
        "claim": claim.says,
        "bound": f"{claim.op} {claim.bound}" if claim.pattern else "",
        "measured": measured,
        "holds": None if reason or not claim.pattern else holds(claim, measured),
        "skipped": reason,
        "seconds": round(seconds, 1),
        "busy_before": round(busy, 2),
        "output": output if not claim.pattern else None,
    }


def told(row):
    verdict = (f"skipped: {row['skipped']}" if row["skipped"] else {True: "yes", False: "**no**",
                                                                    None: "ran"}[row["holds"]])
    load = f"{100 * row['busy_before']:.0f} %" + (" (under load)" if row["busy_before"] > BUSY else "")
    cleaned = " ".join(verdict.split()).replace("|", "/")
    measured = "" if row["measured"] is None else format(row["measured"], "g")
    return (f"| {row['bench']} | {row['claim']} | {row['bound']} | {measured} | {cleaned} | {row['seconds']:g} | "
            f"{load} |")


def write_claims(folder, rows):
    """Adds the measured rows to claims.csv."""
    columns = ("bench", "claim", "bound", "measured", "holds", "seconds", "busy_before")
    measured = [{**{name: row[name] for name in columns}, "command": f"bench/all.py --only '{row['bench']}'"}
                for row in rows if not row["skipped"]]
    results.write("claims", measured, folder, key="bench")


def chosen(only):
    unknown = [name for name in only if name not in {row.name for row in BENCHES}]
    if unknown: sys.exit(f"no bench is called {', '.join(unknown)}: see --list")
    return [row for row in BENCHES if not only or row.name in only]


def show_list(o, where):
    for row in chosen(o.only):
        print(f"{row.name}: {' '.join(row.command).format(**where)}")
        if reason := why_not(o, row): print(f"    would be skipped: {reason}")
        for claim in row.claims: print(f"    {claim.says} {claim.op} {claim.bound}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--mutations", default="build/mutations",
                        help="a build with -DASSAY_MUTATIONS=ON, for what is slowed")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"),
                        help="with spider/ and bird-superhero/")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--csv", metavar="DIR", help="add the measured rows to DIR/claims.csv (bench/results)")
    parser.add_argument("--timeout", type=float, default=3600, metavar="S", help="for one bench (3600)")
    parser.add_argument("--loaded", action="store_true", help="measure on a busy machine too, and say so")
    o = parser.parse_args()
    o.data = os.path.abspath(o.data)
    with tempfile.TemporaryDirectory(prefix="assay-all-") as o.scratch:
        where = places(o)
        if o.list: return show_list(o, where)
        on, busy = machine(), busy_share(3)
        if busy > BUSY and not o.loaded:
            sys.exit(f"others use {100 * busy:.0f} % of the processors: figures would be theirs too. With --loaded it "
                     "measures anyway")
        print(f"{on['cores']} cores, {on['model']}, {on['memory_gib']} GiB, load {on['load']} before\n")
        print("| bench | claim | bound | measured | holds | s | busy before |\n" + "| --- " * 7 + "|", flush=True)
        prepare(where)
        rows = []
        for row in chosen(o.only):
            rows += run(o, row, where)
            print("\n".join(told(each) for each in rows[-max(1, len(row.claims)):]), flush=True)
    if o.csv: write_claims(o.csv, rows)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as out: json.dump({"machine": on, "rows": rows}, out, indent=1)
    return any(row["holds"] is False for row in rows)


if __name__ == "__main__":
    sys.exit(main())
