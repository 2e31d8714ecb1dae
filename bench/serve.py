#!/usr/bin/env python3
"""Measures assay serve without a fleet, under callers over HTTP. Compares it with assay replay of the same log in the
same run.

  serve.py --assay build/release/cli/assay --load-from build/release/bench/bench_http_callers
           --log LOG --db-root DATABASES [--callers 16] [--order sampled] [--csv FILE]

The main measurement is a closed loop: each caller sends its next request when it has an answer, and every request of
the log is sent once. The callers, written in C, share the machine with the server. `one` is a single caller, whose
latency is compared with the duration of judging in the verdicts. `open` sends requests at a fixed rate, --load times
the throughput of the closed loop; a latency counts from the due time of its request. `idle` is the cost of --idle
connections that send nothing.
"""
import argparse, asyncio, json, re, socket, statistics, subprocess, time

import results


def post(line):
    return (b"POST /v1/judge HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
            b"%d\r\n\r\n" % len(line) + line)


async def call(port, line):
    """(seconds, verdict)."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(post(line))
    answer = await reader.read()
    writer.close()
    head, body = answer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 "), answer[:200]
    return time.perf_counter() - began, json.loads(body)


async def one_caller(port, lines): return [await call(port, line) for line in lines]


def closed_loop(o, port, lines):
    """Returns (total seconds, milliseconds of each request)."""
    said = subprocess.run([o.load_from, str(port), str(o.callers)], input=b"".join(line + b"\n" for line in lines),
                          check=True, capture_output=True).stdout.split()
    return float(said[0]), [float(ms) for ms in said[1:]]


async def open_loop(port, lines, per_second):
    """(seconds from the planned start, verdict) of each."""
    began = time.perf_counter() + 0.1
    async def one(i, line):
        planned = began + i / per_second
        await asyncio.sleep(max(0, planned - time.perf_counter()))
        _, verdict = await call(port, line)
        return time.perf_counter() - planned, verdict
    return await asyncio.gather(*(one(i, line) for i, line in enumerate(lines)))


def resident_kb(server):
    with open(f"/proc/{server.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def idle(server, port, n):
    """Returns the MB that n connections use after they have sent half a head."""
    before, held = resident_kb(server), []
    for _ in range(n):
        s = socket.create_connection(("127.0.0.1", port))
        s.sendall(b"POST /v1/judge HTTP/1.1\r\nHost: 127")
        held.append(s)
    time.sleep(0.5)
    after = resident_kb(server)
    for s in held: s.close()
    return (after - before) / 1024


def over_judging(done): return statistics.median(1000 * s - v["timings"]["total_ms"] for s, v in done)


def start(o):
    server = subprocess.Popen([o.assay, "serve", "--db-root", o.db_root, "--http", "127.0.0.1:0", "--order", o.order,
                               "--per-address", "0", "--log-form", "json"], stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "accepting requests" in line: return server, json.loads(line)["port"]
    raise SystemExit("it does not start")


def replay(o, path):
    said = subprocess.run([o.assay, "replay", path, "--db-root", o.db_root, "--order", o.order, "--out", "/dev/null",
                           "--force"], check=True, capture_output=True, text=True).stderr
    return float(re.search(r"\((\d+) candidates/s\)", said)[1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--load-from", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--db-root", required=True)
    p.add_argument("--callers", type=int, default=16)
    p.add_argument("--order", default="auto")
    p.add_argument("--load", type=float, default=0.3)
    p.add_argument("--idle", type=int, default=1000)
    p.add_argument("--runs", type=int, default=3)
    results.add_option(p)
    o = p.parse_args()
    rows = []
    entries = [json.loads(line) for line in open(o.log, encoding="utf-8")]
    lines = [json.dumps({k: v for k, v in e.items() if k != "gold"}).encode() for e in entries]
    candidates = sum(len(e["candidates"]) for e in entries)
    print("| run | replay, candidates/s | callers | of replay | p50, p99 ms | p99 / p50 | one caller: p50, p99 ms | "
          "over judging, p50 ms | open: p50, p99 ms | over judging, p50 ms "
          "| idle, MB |\n" + "| --- " * 11 + "|")
    for run in range(o.runs):
        peer = replay(o, o.log)
        server, port = start(o)
        closed_loop(o, port, lines)  # warms the indexes up
        seconds, done = closed_loop(o, port, lines)
        alone = asyncio.run(one_caller(port, lines))
        opened = asyncio.run(open_loop(port, lines, o.load * len(lines) / seconds))
        held = idle(server, port, o.idle)
        server.terminate()
        server.wait()
        one, planned = (sorted(1000 * s for s, _ in runs) for runs in (alone, opened))
        ms = sorted(done)
        at = lambda sorted_ms, share: sorted_ms[min(len(sorted_ms) - 1, int(share * len(sorted_ms)))]
        rows.append({"run": run + 1, "callers": o.callers, "replay_candidates_per_s": peer,
                     "of_replay": candidates / seconds / peer, "p50_ms": at(ms, 0.5), "p99_ms": at(ms, 0.99),
                     "one_p50_ms": at(one, 0.5), "one_p99_ms": at(one, 0.99),
                     "one_over_judging_ms": over_judging(alone), "open_p50_ms": at(planned, 0.5),
                     "open_p99_ms": at(planned, 0.99), "open_over_judging_ms": over_judging(opened), "idle_mb": held})
        print(f"| {run + 1} | {peer:.0f} | {o.callers} | {candidates / seconds / peer:.2f} | {at(ms, 0.5):.1f}, "
              f"{at(ms, 0.99):.1f} | {at(ms, 0.99) / at(ms, 0.5):.1f} "
              f"| {at(one, 0.5):.1f}, {at(one, 0.99):.1f} | {over_judging(alone):.1f} | {at(planned, 0.5):.1f}, "
              f"{at(planned, 0.99):.1f} | {over_judging(opened):.1f} | {held:.1f} |", flush=True)
    results.save(o.csv, rows)


if __name__ == "__main__": main()
