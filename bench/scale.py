#!/usr/bin/env python3
"""Measures how time and memory of the embedded program grow with its input. Each kind of size has a curve with a slope.

  scale.py build/release/cli/assay [--quick] [--only NAME...] [--json FILE] [--csv FILE]
           [--postgres DSN | --start-postgres] [--folder DIR]

All inputs are generated, equal each time, in a scratch folder that is removed. A curve starts at its least size. It
ends at a size that would exceed --longest or --disk by forecast, or whose SQL is refused. The time at the least size is
subtracted as the cost of a start. The slope is that of log(time) against log(n) over the upper half of the sizes, so 1
is linear and 2 quadratic. A slope is marked if it exceeds the permitted one (n log n, unless its row says flat) by more
than 0.15. Memory is marked only where it must stay flat. The exit status is 1 if a value is marked.
"""
import argparse, collections, json, math, os, random, shlex, sqlite3, statistics, subprocess, sys, tempfile, time

import results

SERVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live", "servers.sh")
TOLERANCE = 0.15
ALLOWED = {"n log n": lambda n: n * math.log2(n + 1), "flat": lambda n: 1}
SCHEMA = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, amount INTEGER)"
FILL = ("INSERT INTO item WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c LIMIT %d) SELECT x, 'Name ' "
        "|| (x * 1000003 %% %d), x * 7919 %% 1000 FROM c")


# --- inputs: make_*(folder, n, options) gives the arguments of the program ---

def database(folder, *statements, name="d"):
    path = os.path.join(folder, "databases", name, name + ".sqlite")
    os.makedirs(os.path.dirname(path))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    for statement in statements: connection.execute(statement)
    connection.execute("COMMIT")
    connection.close()
    return path


def request(i, question, candidates, db="d"):
    return {"id": f"r{i}", "db": db, "question": question, "candidates": [{"sql": sql} for sql in candidates]}


def replay(folder, requests, *options, out=os.devnull):
    path = os.path.join(folder, "log.jsonl")
    with open(path, "w", encoding="utf-8") as log:
        for each in requests: log.write(json.dumps(each) + "\n")
    return ["replay", path, "--db-root", os.path.join(folder, "databases"), "--format", "jsonl", "--out", out,
            "--force", "--quiet", *(options or ("--workers", "1"))]


SIMPLE = ("How many items have an amount above 500?",
          ["SELECT count(*) FROM item WHERE amount > 500", "SELECT count(name) FROM item WHERE amount >= 500",
           "SELECT sum(amount) FROM item WHERE amount > 500"])


def make_rows(folder, n, _):
    database(folder, SCHEMA, FILL % (n, 1000))
    return replay(folder, [request(0, *SIMPLE)])


def make_postgres(folder, n, o):
    """Creates the table in the database of --postgres, replacing an old one."""
    sql = (f"DROP TABLE IF EXISTS item; {SCHEMA}; INSERT INTO item SELECT x, 'Name ' || (x * 1000003 % 1000), x * 7919 "
           f"% 1000 FROM generate_series(0::bigint, {n - 1}) AS x; ANALYZE item")
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", o.postgres, "-c", sql], check=True,
                   stderr=subprocess.DEVNULL)
    question, candidates = SIMPLE
    return ["check", "--db", o.postgres, "--question", question, *candidates]


def make_values(folder, n, _):
    return ["index", "build", database(folder, SCHEMA, FILL % (n, n))]


def make_value_lookups(folder, n, _):
    """Makes questions with a value that exists and one that does not."""
    database(folder, SCHEMA, FILL % (n, n))
    return replay(folder, [request(0, "What is the amount of Name 17 and of Nome 18?",
                                   ["SELECT amount FROM item WHERE name = 'Name 17'",
                                    "SELECT amount FROM item WHERE name = 'Nome 18'",
                                    "SELECT amount FROM item WHERE name LIKE '%17'"])])


def tables(n):
    """Makes a chain of keys: each table refers to the previous one."""
    for i in range(n):
        yield (f"CREATE TABLE item_{i}(id INTEGER PRIMARY KEY, name_{i} TEXT, previous_id INTEGER"
               + (f" REFERENCES item_{i - 1}(id))" if i else ")"))
        yield f"INSERT INTO item_{i} VALUES (1, 'Name {i}', 1), (2, 'Other {i}', 2)"


def make_tables(folder, n, _):
    database(folder, *tables(n))
    last = n - 1
    candidates = [f"SELECT name_{last} FROM item_{last} WHERE id = 2", "SELECT count(*) FROM item_0"]
    if n > 1:
        candidates.append(f"SELECT a.name_{last} FROM item_{last} a JOIN item_{last - 1} b ON a.previous_id = b.id "
                          f"WHERE b.name_{last - 1} = 'Other {last - 1}'")
    return replay(folder, [request(0, f"What is the name of item {last} whose previous item is called Other "
                                   f"{last - 1}?", candidates)])


def make_columns(folder, n, _):
    names = [f"property_{i}" for i in range(n)]
    database(folder, f"CREATE TABLE item({', '.join(name + ' TEXT' for name in names)})",
             *(f"INSERT INTO item VALUES ({', '.join(repr(f'v{row} {i}') for i in range(n))})" for row in range(20)))
    last = names[-1]
    return replay(folder, [request(0, f"What is property {n - 1} of the item whose property 0 is v3 0?", [
        f"SELECT {last} FROM item WHERE property_0 = 'v3 0'", f"SELECT count({last}) FROM item",
        "SELECT * FROM item"])])


def make_candidates(folder, n, _):
    """Makes different candidates, each with another result."""
    database(folder, SCHEMA, FILL % (10_000, 1000))
    return replay(folder, [request(0, "Which items have an amount above 500?",
                                   [f"SELECT id FROM item WHERE amount > {i % 1000} AND id > {i}" for i in range(n)])],
                  "--workers", "1", "--strategy", "rerank")


def make_equal_candidates(folder, n, _):
    """Makes different candidates that all have the same result."""
    database(folder, SCHEMA, FILL % (1000, 1000))
    return replay(folder, [request(0, "Which items have an amount above 500?",
                                   [f"SELECT name FROM item WHERE amount > 500 AND id > -{i}"
                                    for i in range(1, n + 1)])], "--workers", "1", "--strategy", "rerank")


def grown(n, head, part, tail="", glue=" "):
    """Returns SQL of about n bytes: part(i) as often as it fits, at least once."""
    parts, size, i = [], len(head) + len(tail), 0
    while not parts or size + len(parts[-1]) + len(glue) <= n:
        parts.append(part(i))
        size += len(parts[-1]) + len(glue)
        i += 1
    return head + glue.join(parts) + tail


def chained(n):
    """Returns SQL of about n bytes: WITH entries that each read the previous one."""
    text = grown(n - 30, "WITH w0 AS (SELECT name FROM item), ", lambda i: f"w{i + 1} AS (SELECT name FROM w{i})",
                 glue=", ")
    return f"{text} SELECT name FROM w{text.count(' AS ') - 1}"


SHAPES = {
    "or": lambda n: grown(n, "SELECT name FROM item WHERE ", lambda i: f"amount = {i}", glue=" OR "),
    "and": lambda n: grown(n, "SELECT name FROM item WHERE ", lambda i: f"amount <> {i}", glue=" AND "),
    "in": lambda n: grown(n, "SELECT name FROM item WHERE amount IN (", str, ")", ", "),
    "text": lambda n: grown(n, "SELECT name FROM item WHERE name = '", lambda i: f"word{i}", "'"),
    "items": lambda n: grown(n, "SELECT ", lambda i: f"amount + {i}", " FROM item", ", "),
    "sum": lambda n: grown(n, "SELECT ", lambda i: "amount", " FROM item", " + "),
    "case": lambda n: grown(n, "SELECT CASE amount ", lambda i: f"WHEN {i} THEN 'v{i}'", " END FROM item"),
    "union": lambda n: grown(n, "", lambda i: f"SELECT name FROM item WHERE id = {i}", glue=" UNION "),
    "join": lambda n: grown(n, "SELECT i0.name FROM item i0 ", lambda i: f"JOIN item i{i + 1} ON i{i}.id = "
                            f"i{i + 1}.id"),
    "with": lambda n: grown(n, "WITH c AS (SELECT 1), ", lambda i: f"w{i} AS (SELECT name FROM item WHERE id = {i})",
                            " SELECT name FROM w0", ", "),
    "chain": chained,
    "exists": lambda n: grown(n, "SELECT name FROM item WHERE ", lambda i: f"EXISTS (SELECT 1 FROM item o WHERE o.id = "
                              f"item.id AND o.amount > {i})", glue=" AND "),
    "spaces": lambda n: grown(n, "SELECT name FROM item", lambda i: "  ", " WHERE amount = 5"),
}


VERDICTS = "verdicts.jsonl"


def make_sql(shape):
    """Makes requests for the SQL. There are 50, because the start would hide the time of one."""
    def make(folder, n, _):
        database(folder, SCHEMA, FILL % (100, 100))
        return replay(folder, (request(i, "Which items have an amount above 500?", [SHAPES[shape](n)])
                               for i in range(50)), out=os.path.join(folder, VERDICTS))
    return make


def make_question(folder, n, _):
    database(folder, SCHEMA, FILL % (1000, 1000))
    words = random.Random(7)
    question = grown(n, "Which items have an amount above 500, or ",
                     lambda i: words.choice(("Name", "amount", "the", "of", "above", str(i), "item", "fewer than",
                                             f"Word{i}")))
    return replay(folder, (request(i, question, SIMPLE[1]) for i in range(50)))


def make_lines(folder, n, _):
    database(folder, SCHEMA, FILL % (100, 100))
    return replay(folder, (request(i, f"How many items have an amount above {i % 1000}?",
                                   [f"SELECT count(*) FROM item WHERE amount > {i % 1000}"]) for i in range(n)),
                  "--workers", "2", "--explain=no")


def make_databases(folder, n, _):
    """Makes databases with two requests each. At the second one, the cache of 4 MiB has evicted the database."""
    for i in range(n): database(folder, SCHEMA, FILL % (20, 20), name=f"d{i}")
    return replay(folder, (request(i, *SIMPLE, db=f"d{i % n}") for i in range(2 * n)), "--workers", "1",
                  "--index-cache-bytes", str(4 << 20))


def make_workers(folder, n, _):
    database(folder, SCHEMA, FILL % (5000, 1000))
    return replay(folder, (request(i, f"How many items have an amount above {i}?",
                                   [f"SELECT count(*) FROM item WHERE amount > {i}",
                                    f"SELECT sum(amount) FROM item WHERE amount > {i}"])
                           for i in range(400)), "--workers", str(n))


# --- the curves ---

Curve = collections.namedtuple("Curve", "name says make sizes quick disk time memory", defaults=(100, "n log n", None))
"""make, sizes and the fewer ones of --quick; bytes on disk for each unit of size; what time and memory may be at most (ALLOWED; None: not held to anything)."""


def decades(first, last):
    return [10 ** i for i in range(first, last + 1)]


def lengths(most):
    """Returns (sizes, fewer sizes) of SQL that is refused above `most` bytes. None: it is not refused up to 64 KiB."""
    return ([100, *(most // part for part in (8, 4, 2, 1))],) * 2 if most else (LENGTHS, SHORT)


LENGTHS, SHORT = [100, 1024, 2048, 4096, 8192, 16384, 32768, 65536], [100, 2048, 8192, 32768, 65536]
LIMITED = {"or": 6000, "and": 7000, "sum": 3500, "union": 2100, "join": 2000}  # bytes that SQLite still accepts
# Steeper than n log n, mostly because of SQLite: its planner, its walks over nested queries, its list of cursors, and
# its
# search for equal constants.
ENGINES = {"case", "chain", "exists", "join"}

CURVES = [
    Curve("rows", "rows of a table in SQLite", make_rows, decades(3, 8), decades(3, 6), 40),
    Curve("postgres", "rows of a table in PostgreSQL", make_postgres, decades(3, 7), decades(3, 6), 80),
    Curve("tables", "tables, each with a key to the one before", make_tables, [1, 10, 100, 500, 1000, 2000, 5000],
          [1, 100, 500, 1000], 9000),
    Curve("columns", "columns of a table", make_columns, [1, 10, 100, 500, 1000, 2000], [1, 100, 500, 1000, 2000], 400),
    Curve("candidates", "candidates with results of their own", make_candidates, [1, 16, 64, 256, 1024, 4096],
          [1, 64, 256, 1024]),
    Curve("equal candidates", "candidates with one result", make_equal_candidates, [1, 16, 64, 256, 1024, 4096],
          [1, 64, 256, 1024]),
    *(Curve(f"sql {shape}", f"bytes of SQL that grows by its {shape}", make_sql(shape), *lengths(LIMITED.get(shape)),
            time=None if shape in ENGINES else "n log n") for shape in SHAPES),
    Curve("question", "bytes of the question", make_question, LENGTHS, SHORT),
    Curve("values", "distinct values, indexed", make_values, decades(3, 7), decades(3, 6), 40),
    Curve("value lookups", "distinct values, asked for", make_value_lookups, decades(3, 7), decades(3, 6), 40),
    Curve("lines", "lines of the log", make_lines, decades(3, 7), decades(2, 4), 250, memory="flat"),
    Curve("databases", "databases, each asked twice", make_databases, decades(0, 4), decades(0, 3), 16384,
          memory="flat"),
    Curve("workers", "workers over one log", make_workers, [1, 2, 4, 8], [1, 2, 4, 8], time="flat"),
]


# --- arithmetic ---

def slope(points):
    """Returns the least-squares slope of log(y) on log(x) over [(x, y)]; None for fewer than two points."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2: return None
    mean_x, mean_y = (statistics.fmean(column) for column in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def growth(points, allowed):
    """Returns (slope of the growing part, whether it is steeper than allowed) of [(n, cost)]. The slope covers the
    upper half of the sizes, without the cost of the least size. If the growth never reaches half of that cost, its
    slope is 0, because it cannot be measured."""
    if len(points) < 3: return None, False
    base = points[0][1]
    if allowed == "flat": base = 0  # flat: a larger size may cost less
    upper = points[max(1, (len(points) - 1) // 2):]
    if base and max(cost for _, cost in upper) - base < 0.5 * base: return 0.0, False
    grown_by = [(n, cost - base) for n, cost in upper if cost > base * 1.1]
    found = slope(grown_by)
    if found is None or allowed is None: return found, False
    return found, found > slope([(n, ALLOWED[allowed](n)) for n, _ in grown_by]) + TOLERANCE


def forecast(points, n):
    """Forecasts the seconds of size n. The part beyond the least size grows in proportion to the last size, or more
    steeply if the last two sizes did."""
    if len(points) < 2: return points[0][1] if points else 0
    base, (last_n, last) = points[0][1], points[-1]
    steep = slope([(size, seconds - base) for size, seconds in points[-2:]]) or 1
    return base + max(0, last - base) * (n / last_n) ** max(1, steep)


# --- running ---

def run(command):
    """Runs a child. Returns its seconds and peak MiB."""
    with tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        seconds, child.returncode = time.monotonic() - began, os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            errors.seek(0)
            raise RuntimeError(f"exit status {child.returncode}: {errors.read(500).decode(errors='replace').strip()}")
    return seconds, usage.ru_maxrss / 1024


def refusal(folder):
    """Returns the reason why the first candidate was not judged, if verdicts were written."""
    path = os.path.join(folder, VERDICTS)
    if not os.path.exists(path): return None
    with open(path, encoding="utf-8") as verdicts: why = json.loads(next(verdicts))["candidates"][0]["why"] or ""
    return why if why.startswith("refused") else None


def measure(o, curve, n):
    """Returns median seconds, peak MiB, and the reason if the program refused the input. Fast runs are repeated three
    times."""
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        command = [o.assay, *curve.make(folder, n, o)]
        runs = [run(command)]
        while len(runs) < 3 and runs[0][0] < 5: runs.append(run(command))
        why = refusal(folder)
    return statistics.median(seconds for seconds, _ in runs), max(peak for _, peak in runs), why


def follow(o, curve):
    """Measures a curve. Returns its row: the points, and the reason if it ended early."""
    times, memory, why = [], [], None
    for n in curve.quick if o.quick else curve.sizes:
        if forecast(times, n) > o.longest: why = f"{n:,} would take about {forecast(times, n):,.0f} s"
        elif n * curve.disk > o.disk * 1e9: why = f"{n:,} would take {n * curve.disk / 1e9:,.0f} GB of disk"
        if why: break
        try:
            seconds, peak, refused = measure(o, curve, n)
        except (RuntimeError, OSError, sqlite3.Error, subprocess.SubprocessError) as error:
            why = f"{n:,}: {error}"
            break
        if refused:
            why = f"{n:,} is {refused}"
            break
        times.append((n, seconds))
        memory.append((n, peak))
        print(f"| {curve.name} | {n:,} | {seconds:.3f} | {peak:.1f} | | | |", flush=True)
    time_slope, slow = growth(times, curve.time)
    memory_slope, large = growth(memory, curve.memory)
    said = lambda found: "" if found is None else f"{found:.2f}"
    marks = "; ".join(filter(None, [slow and f"time steeper than {curve.time}",
                                    large and f"memory steeper than {curve.memory}", why and f"ends: {why}"]))
    print(f"| **{curve.name}** | {curve.says} | | | {said(time_slope)} | {said(memory_slope)} | {marks} |", flush=True)
    return {"name": curve.name, "says": curve.says,
            "points": [{"n": n, "seconds": s, "mib": m} for (n, s), (_, m) in zip(times, memory)],
            "time_slope": time_slope,
            "memory_slope": memory_slope, "steeper": slow or large, "ends": why}


def start_postgres(folder):
    """Starts a server and returns its DSN."""
    subprocess.run(["bash", SERVERS, "start", folder, "postgres"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "env"), encoding="utf-8") as lines:
        return next(shlex.split(line)[1].split("=", 1)[1] for line in lines
                    if line.startswith("export ASSAY_TEST_POSTGRES="))


def chosen(o):
    """Returns the requested curves, by name or by its first word."""
    found = [curve for curve in CURVES if not o.only or curve.name in o.only or curve.name.split()[0] in o.only]
    unknown = [name for name in o.only if not any(name in (curve.name, curve.name.split()[0]) for curve in CURVES)]
    if unknown:
        sys.exit(f"no curve is called {', '.join(unknown)}; there are: {', '.join(curve.name for curve in CURVES)}")
    return found


def follow_all(o):
    print("| curve | size | seconds | peak MiB | slope of time | slope of memory | |\n" + "| --- " * 7 + "|",
          flush=True)
    rows = []
    for curve in chosen(o):
        if curve.name == "postgres" and not o.postgres:
            print(f"| **{curve.name}** | {curve.says} | | | | | skipped: no --postgres, no --start-postgres |")
        else: rows.append(follow(o, curve))
    if o.json:
        with open(o.json, "w", encoding="utf-8") as out:
            json.dump({"cores": os.cpu_count(), "load": os.getloadavg()[0], "curves": rows}, out, indent=1)
    results.save(o.csv, [{"curve": row["name"], "what_grows": row["says"], "size": point["n"],
                          "seconds": point["seconds"], "mib": point["mib"],
                          "time_slope": row["time_slope"], "memory_slope": row["memory_slope"]}
                         for row in rows for point in row["points"]])
    return any(row["steeper"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes: minutes")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        help="curves by name, or by the first word of it (sql)")
    parser.add_argument("--json", metavar="FILE")
    results.add_option(parser)
    parser.add_argument("--postgres", metavar="DSN", help="a database whose table item may be dropped")
    parser.add_argument("--start-postgres", action="store_true", help="start a server with tests/live/servers.sh")
    parser.add_argument("--folder", metavar="DIR", help="where the scratch folder is made")
    parser.add_argument("--longest", type=float, metavar="S",
                        help="a size that will take longer ends its curve (20 with --quick, else 1800)")
    parser.add_argument("--disk", type=float, default=8, metavar="GB", help="likewise for its files (8)")
    o = parser.parse_args()
    o.longest = o.longest or (20 if o.quick else 1800)
    with tempfile.TemporaryDirectory(dir=o.folder, prefix="assay-scale-") as o.folder:
        servers = os.path.join(o.folder, "servers")
        try:
            if o.start_postgres: o.postgres = start_postgres(servers)
            return follow_all(o)
        finally:
            if o.start_postgres: subprocess.run(["bash", SERVERS, "stop", servers], stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
