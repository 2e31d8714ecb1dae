#!/usr/bin/python3
"""Measures honest HTTP callers of a fleet, alone and together with hostile callers. Starts and stops the real servers.

  hostile.py ASSAY [--callers 50] [--hostile 500] [--max-waiting 115]

ASSAY is the program of a release build. Each honest caller requests verdicts from a fleet of one coordinator and one
worker, one after the other. Prints how long they waited, and how many got no answer within 20 s. The hostile callers
keep connections open with one byte a second: half a head, a head without an end, or half a body. They use one address,
or ten connections from each of fifty addresses.
"""
import argparse
import itertools
import json
import os
import socket
import sqlite3
import statistics
import sys
import tempfile
import threading
import time

import fleet
from ports import free_port  # fleet has added its folder to the path

PATIENCE = 20
KINDS = (b"", b"POST /v1/judge HTTP/1.1\r\n", b"POST /v1/judge HTTP/1.1\r\nHost: a\r\nX: ",
         b"POST /v1/judge HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{")


class Hostile(threading.Thread):
    """Keeps n connections from each address open, and reconnects when one is closed."""

    def __init__(self, port, n, addresses):
        super().__init__(daemon=True)
        self.port, self.ending = port, False
        kinds = itertools.cycle(KINDS)
        self.who = [(f"127.0.1.{i % addresses + 1}", next(kinds)) for i in range(n)]
        self.sockets = [self.come(*who) for who in self.who]
        self.again = 0

    def come(self, address, first):
        fd = socket.create_connection(("127.0.0.1", self.port), source_address=(address, 0))
        fd.setblocking(False)
        fd.send(first or b"P")
        return fd

    def run(self):
        while not self.ending:
            for i, fd in enumerate(self.sockets):
                try:
                    fd.send(b"a")
                    if fd.recv(1) == b"":
                        raise ConnectionError
                except BlockingIOError:
                    continue
                except OSError:
                    fd.close()
                    self.sockets[i] = self.come(*self.who[i])
                    self.again += 1
            time.sleep(1)

    def close(self):
        self.ending = True
        self.join()
        for fd in self.sockets:
            fd.close()


def ask(port, number):
    """Makes a call on its own socket. Returns the seconds, or None without an answer."""
    body = json.dumps({"db": "shop", "question": f"How many orders, {number}?",
                       "candidates": ["SELECT count(*) FROM orders"]})
    request = (f"POST /v1/judge?wait_ms=15000 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: "
               f"close\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    start = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as fd:
            fd.sendall(request.encode())
            answer = b""
            while part := fd.recv(65536):
                answer += part
    except OSError:
        return None
    return time.monotonic() - start if answer.startswith(b"HTTP/1.1 200 ") else None


def measure(port, callers, calls):
    waits, lock, numbers = [], threading.Lock(), itertools.count()

    def run():
        for _ in range(calls):
            wait = ask(port, next(numbers))
            with lock:
                waits.append(wait)
            if wait is None:
                return

    threads = [threading.Thread(target=run) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits


def show(name, waits, hostile=None):
    good = sorted(wait for wait in waits if wait is not None)
    lost = len(waits) - len(good)
    middle = (f"median {statistics.median(good) * 1000:7.1f} ms, longest {good[-1] * 1000:7.1f} ms" if good
              else "no answer at all")
    came = f"; hostile ones thrown out {hostile.again} times" if hostile else ""
    print(f"{name:42} {len(good):4} answers, {lost:3} callers without; {middle}{came}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("--callers", type=int, default=50)
    parser.add_argument("--calls", type=int, default=4)
    parser.add_argument("--hostile", type=int, default=500)
    parser.add_argument("--max-waiting", type=int, default=115)
    args = parser.parse_args()
    with fleet.Servers() as servers, tempfile.TemporaryDirectory() as root:
        with sqlite3.connect(os.path.join(root, "shop.sqlite")) as db:
            db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT)")
        own, port = fleet.Fleet(servers, args.assay), free_port()
        try:
            own.start("coordinator", "--from", "beginning")
            own.start("worker", "--db-root", root)
            own.start("serve", "--http", f"127.0.0.1:{port}", "--max-waiting", str(args.max_waiting))
            limit = time.monotonic() + 60
            while ask(port, -1) is None and time.monotonic() < limit:
                time.sleep(0.2)
            measure(port, args.callers, args.calls)
            show(f"{args.callers} honest callers", measure(port, args.callers, args.calls))
            for addresses in (1, 50):
                hostile = Hostile(port, args.hostile, addresses)
                hostile.start()
                time.sleep(2)
                show(f"beside {args.hostile} hostile ones, {addresses} address{'es' * (addresses > 1)}",
                     measure(port, args.callers, args.calls), hostile)
                hostile.close()
        finally:
            own.stop()


if __name__ == "__main__":
    sys.exit(main())
