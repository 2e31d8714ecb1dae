#!/usr/bin/env python3
"""assay serve without a fleet, under callers over HTTP, against assay replay of the same log in the same run.

  serve.py --assay build/release/cli/assay --log LOG --db-root DATABASES [--callers 16] [--order sampled]

A closed loop: each caller sends its next request when it has an answer, every request of the log once. The callers share the machine with the
server. `one`: a single caller, whose latency stands beside what the verdicts say that judging took.
"""
import argparse, asyncio, json, re, statistics, subprocess, time


def post(line): return b"POST /v1/judge HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(line) + line


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


async def closed_loop(port, lines, callers):
    waiting, done = list(reversed(lines)), []
    async def caller():
        while waiting: done.append(await call(port, waiting.pop()))
    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return time.perf_counter() - began, done


def start(o):
    server = subprocess.Popen([o.assay, "serve", "--db-root", o.db_root, "--http", "127.0.0.1:0", "--order", o.order, "--log-form", "json"], stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "requests are taken" in line: return server, json.loads(line)["port"]
    raise SystemExit("it does not start")


def replay(o, path):
    said = subprocess.run([o.assay, "replay", path, "--db-root", o.db_root, "--order", o.order, "--out", "/dev/null", "--force"], check=True, capture_output=True, text=True).stderr
    return float(re.search(r"\((\d+) candidates/s\)", said)[1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--db-root", required=True)
    p.add_argument("--callers", type=int, default=16)
    p.add_argument("--order", default="auto")
    p.add_argument("--runs", type=int, default=3)
    o = p.parse_args()
    entries = [json.loads(line) for line in open(o.log, encoding="utf-8")]
    lines = [json.dumps({k: v for k, v in e.items() if k != "gold"}).encode() for e in entries]
    candidates = sum(len(e["candidates"]) for e in entries)
    print("| run | replay, candidates/s | callers | candidates/s | of replay | p50, p99 ms | p99 / p50 | one caller: p50, p99 ms | over judging, p50 ms |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for run in range(o.runs):
        peer = replay(o, o.log)
        server, port = start(o)
        asyncio.run(closed_loop(port, lines, 2))  # indexes are warm then
        seconds, done = asyncio.run(closed_loop(port, lines, o.callers))
        _, alone = asyncio.run(closed_loop(port, lines, 1))
        server.terminate()
        server.wait()
        ms = sorted(1000 * s for s, _ in done)
        one = sorted(1000 * s for s, _ in alone)
        over = statistics.median(1000 * s - v["timings"]["total_ms"] for s, v in alone) if "timings" in alone[0][1] else float("nan")
        at = lambda sorted_ms, share: sorted_ms[min(len(sorted_ms) - 1, int(share * len(sorted_ms)))]
        print(f"| {run + 1} | {peer:.0f} | {o.callers} | {candidates / seconds:.0f} | {candidates / seconds / peer:.2f} | {at(ms, 0.5):.1f}, {at(ms, 0.99):.1f} "
              f"| {at(ms, 0.99) / at(ms, 0.5):.1f} | {at(one, 0.5):.1f}, {at(one, 0.99):.1f} | {over:.1f} |", flush=True)


if __name__ == "__main__": main()
