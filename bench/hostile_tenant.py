#!/usr/bin/env python3
"""Measures honest callers of assay serve without a fleet, alone and together with a hostile tenant, in one run.

  hostile_tenant.py build/release/cli/assay [--callers 10] [--calls 40] [--hostile 4] [--csv FILE]

Ten callers of one tenant use POST /v1/judge, /v1/batch and /mcp, with a pause between calls. The hostile tenant has
another token and another database. It sends over all three routes, as fast as it is answered: 400 candidates that never
end, with a repair; batches of such requests; tool calls; and requests that it abandons at once. Prints how long the
honest callers waited, in milliseconds, and the difference of the 99th percentiles. The exit status is 1 if this exceeds
--most.
"""
import argparse, hashlib, http.client, itertools, json, multiprocessing, os, sqlite3, statistics, subprocess, sys, tempfile, threading, time

import results

BOUND = 60
SLOW = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i > 0) SELECT count(*) FROM n, visit"
numbers = itertools.count(1)


def call(port, token, path, body, timeout=BOUND):
    """Returns (status, body), or None if the answer does not arrive in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"
                   if path.startswith("/v1/batch") else "application/json"}
        if path == "/mcp": headers["Accept"] = "application/json, text/event-stream"
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def tool(name, arguments):
    return json.dumps({"jsonrpc": "2.0", "id": next(numbers), "method": "tools/call",
                       "params": {"name": name, "arguments": arguments}})


def honest_request(number):
    return {"db": "shop", "question": f"How many orders of more than {number} euros are there?",
            "candidates": [f"SELECT count(*) FROM orders WHERE amount > {number}", "SELECT count(*) FROM orders",
                           f"SELECT count(id) FROM orders WHERE amount >= {number}"]}


def honest_calls():
    """Returns how to make a call on each route."""
    return {"/v1/judge": lambda n: ("/v1/judge", json.dumps(honest_request(n))),
            "/v1/batch": lambda n: ("/v1/batch", "\n".join(json.dumps(honest_request(n + i)) for i in range(3))),
            "/mcp": lambda n: ("/mcp", tool("judge_sql", honest_request(n)))}


def is_good(path, answer):
    if answer is None or answer[0] != 200: return False
    verdicts = answer[1].splitlines()
    return all(b'"problem"' not in line and b"location" not in line[:200] and b'"isError":true' not in line
               for line in verdicts)


class Hostile:
    """Threads that keep as much work as possible in the server. They run in another process, so that they do not share
    an interpreter with the measuring callers."""

    def __init__(self, port, n, kinds):
        self.port, self.n, self.kinds = port, n, kinds
        self.ending = multiprocessing.Event()
        self.counts = multiprocessing.Array("L", 3)  # numbers of calls answered, refused, abandoned
        self.process = multiprocessing.Process(target=self.attack, daemon=True)
        self.process.start()

    def attack(self):
        threads = [threading.Thread(target=self.run, args=(getattr(self, kind),), daemon=True) for kind in self.kinds
                   for _ in range(self.n)]
        for thread in threads: thread.start()
        self.ending.wait()

    def close(self):
        self.ending.set()
        self.process.join()

    def request(self, **more):
        first = next(numbers) * 1000
        return {"db": "den", "question": "How many visits?", "strategy": "rerank", "repair": "propose",
                "deadline_ms": 600000,
                "candidates": [SLOW.format(first + i) for i in range(400)], **more}

    def judge(self):
        return call(self.port, "hostile", "/v1/judge?wait_ms=60000", json.dumps(self.request(id=f"h{next(numbers)}")))
    def batch(self):
        return call(self.port, "hostile", "/v1/batch?wait_ms=60000",
                    "\n".join(json.dumps(self.request()) for _ in range(16)))
    def agent(self):
        return call(self.port, "hostile", "/mcp",
                    tool("judge_sql", {"db": "den", "question": "How many visits?",
                                       "candidates": self.request()["candidates"][:20]}))

    def leave(self):
        answer = call(self.port, "hostile", "/v1/judge?wait_ms=60000", json.dumps(self.request()), 0.5)
        if not answer: self.counts[2] += 1
        return answer

    def run(self, kind):
        while True:
            answer = kind()
            refused = answer and (answer[0] != 200 or b'"isError":true' in answer[1])  # agents see it in the result
            if answer: self.counts[1 if refused else 0] += 1
            if refused: time.sleep(0.2)


def measure(port, make, o):
    """Returns the milliseconds of each call, and the number of calls without a good answer."""
    waits, lost, lock = [], [], threading.Lock()

    def run(caller):
        time.sleep(o.pause * caller / o.callers)
        for _ in range(o.calls):
            path, body = make(next(numbers))
            began = time.perf_counter()
            answer = call(port, "honest", path, body)
            took = 1000 * (time.perf_counter() - began)
            with lock:
                waits.append(took)
                if not is_good(path, answer): lost.append(answer)
            time.sleep(o.pause)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(o.callers)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sorted(waits), lost


def make_world(folder):
    for name, table in (("shop", "orders(id INTEGER PRIMARY KEY, amount REAL)"),
                        ("den", "visit(id INTEGER PRIMARY KEY)")):
        db = sqlite3.connect(os.path.join(folder, f"{name}.sqlite"))
        db.execute(f"CREATE TABLE {table}")
        if name == "shop": db.executemany("INSERT INTO orders VALUES(?, ?)", ((i, i % 97 * 1.5) for i in range(1000)))
        else: db.execute("INSERT INTO visit VALUES(1)")
        db.commit()
        db.close()
    tenants = {name: {"sha256": [hashlib.sha256(name.encode()).hexdigest()], "databases": ["*"]}
               for name in ("honest", "hostile")}
    with open(os.path.join(folder, "tokens.json"), "w", encoding="utf-8") as f:
        json.dump({"tokens_version": 1, "tenants": tenants}, f)


def start(assay, folder, more):
    server = subprocess.Popen([assay, "serve", "--db-root", folder, "--http", "127.0.0.1:0", "--tokens",
                               os.path.join(folder, "tokens.json"), "--per-address", "0",
                               "--log-form", "json", *more], stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "accepting requests" in line: break
    else: raise SystemExit("it does not start")
    threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
    return server, json.loads(line)["port"]


def at(sorted_ms, share): return sorted_ms[min(len(sorted_ms) - 1, int(share * len(sorted_ms)))]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("assay")
    p.add_argument("--callers", type=int, default=10)
    p.add_argument("--calls", type=int, default=40)
    p.add_argument("--pause", type=float, default=0.2)
    p.add_argument("--hostile", type=int, default=4, help="threads of each kind")
    p.add_argument("--kinds", nargs="*", default=["judge", "batch", "agent", "leave"], help="what they send")
    p.add_argument("--most", type=float, default=500, help="milliseconds by which the 99th percentile may differ")
    p.add_argument("--serve", nargs="*", default=[], help="more options of assay serve, without their dashes")
    results.add_option(p)
    o = p.parse_args()
    worst, rows = 0, []
    with tempfile.TemporaryDirectory() as folder:
        make_world(folder)
        server, port = start(o.assay, folder, [f"--{option}" for option in o.serve])
        try:
            # warms the indexes up
            for make in honest_calls().values(): measure(port, make, argparse.Namespace(callers=2, calls=2, pause=0))
            alone = {path: measure(port, make, o) for path, make in honest_calls().items()}
            hostile = Hostile(port, o.hostile, o.kinds)
            time.sleep(2)
            print("| route | alone: p50, p99 ms | beside: p50, p99 ms | p99 more by, ms | without a good answer |\n"
                  + "| --- " * 5 + "|")
            for path, make in honest_calls().items():
                beside, lost = measure(port, make, o)
                before, lost_before = alone[path]
                more = at(beside, 0.99) - at(before, 0.99)
                worst = max(worst, more, float("inf") if lost or lost_before else 0)
                rows.append({"route": path, "alone_p50_ms": statistics.median(before), "alone_p99_ms": at(before, 0.99),
                             "beside_p50_ms": statistics.median(beside), "beside_p99_ms": at(beside, 0.99),
                             "p99_more_ms": more, "without_answer": len(lost_before) + len(lost)})
                print(f"| {path} | {statistics.median(before):.0f}, {at(before, 0.99):.0f} | "
                      f"{statistics.median(beside):.0f}, {at(beside, 0.99):.0f} | {more:.0f} "
                      f"| {len(lost_before)}, {len(lost)} of {len(beside)} |", flush=True)
                for answer in lost[:1]: print(f"  {path}: {answer}", file=sys.stderr)
            hostile.close()
            results.save(o.csv, rows)
            print("of the hostile tenant: {} calls answered, {} refused, {} left".format(*hostile.counts))
        finally:
            server.kill()
            server.wait()
    return 0 if worst <= o.most else 1


if __name__ == "__main__": sys.exit(main())
