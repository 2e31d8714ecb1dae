"""The proxy between a scripted client and a scripted broker: the effect of each rule on a request and its reply."""
import socket
import struct
import sys
import threading
import time

from proxy import CUT, DELAY, END_TXN, HOLD, PRODUCE, SPOIL, SWALLOW, TXN_OFFSET_COMMIT, WAIT, Proxy, Rule
from wait import wait_until

CLIENT = b"\x00\x01c"  # the client's id in a header


class Broker:
    """Answers each request with its correlation id and records the requests."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address, self.came = self.server.getsockname(), []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            threading.Thread(target=self._serve, args=(self.server.accept()[0],), daemon=True).start()

    def _serve(self, connection):
        while frame := receive(connection):
            self.came.append(struct.unpack_from(">h", frame)[0])
            self.last = frame
            try:
                connection.sendall(struct.pack(">i", 4) + frame[4:8])
            except OSError:
                return


def receive(connection):
    """Reads one frame; empty if the connection broke."""
    try:
        head = connection.recv(4, socket.MSG_WAITALL)
        return connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL) if len(head) == 4 else b""
    except OSError:
        return b""


class Bench:
    def __init__(self):
        self.broker = Broker()
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = free.getsockname()
        self.proxy = Proxy([(address, self.broker.address)], lambda text: None)
        self.client = socket.create_connection(address)
        self.client.settimeout(10)

    def ask(self, api, body=b"\xff\xff"):
        """Returns true if the request is answered."""
        request = struct.pack(">hhi", api, 3, 7) + CLIENT + body
        self.client.sendall(struct.pack(">i", len(request)) + request)
        return receive(self.client) == struct.pack(">i", 7)

    def came(self, api):
        return wait_until(lambda: api in self.broker.came, 10, f"request {api}", look_s=0.01)


def passes_on(b):
    return b.ask(END_TXN) and b.ask(PRODUCE) and b.broker.came == [END_TXN, PRODUCE]


def other_requests_pass(b):
    b.proxy.add(Rule(CUT, END_TXN))
    return b.ask(PRODUCE) and b.proxy.struck() == 0


def cuts(b):
    b.proxy.add(Rule(CUT, END_TXN))
    return not b.ask(END_TXN) and not b.broker.came and b.proxy.struck() == 1


def swallows(b):
    b.proxy.add(Rule(SWALLOW, END_TXN))
    return not b.ask(END_TXN) and b.came(END_TXN)


def delays(b):
    b.proxy.add(Rule(DELAY, END_TXN, seconds=0.3))
    began = time.monotonic()
    return b.ask(END_TXN) and time.monotonic() - began >= 0.3


def holds(b):
    b.proxy.add(Rule(HOLD, END_TXN))
    broke = not b.ask(END_TXN) and not b.broker.came
    return broke and b.proxy.release() == 1 and b.came(END_TXN)


def waits(b):
    b.proxy.add(Rule(WAIT, END_TXN, seconds=0.3))
    began = time.monotonic()
    return b.ask(END_TXN) and time.monotonic() - began >= 0.3


def releases_in_between(b):
    """A held request arrives after one request and before the next, as the rule requires."""
    b.proxy.add(Rule(HOLD, END_TXN))
    broke = not b.ask(END_TXN)
    b.client = socket.create_connection(b.client.getpeername())
    b.proxy.add(Rule(WAIT, PRODUCE, seconds=0.2, then=b.proxy.release))
    return broke and b.ask(PRODUCE) and b.broker.came == [END_TXN, PRODUCE]


def spoils(b):
    b.proxy.add(Rule(SPOIL, TXN_OFFSET_COMMIT))
    body = b"\x00" + b"\x03id" + b"\x06group" + bytes(10) + struct.pack(">i", 5) + b"\x02mrest"
    answered = b.ask(TXN_OFFSET_COMMIT, body)
    return answered and b.broker.last.endswith(struct.pack(">i", 1005) + b"\x02mrest")


def sees_whose_offsets_come(b):
    def offsets(generation, member):
        fixed = b"\x00" + b"\x03id" + b"\x06group" + bytes(10) + struct.pack(">i", generation)
        return b.ask(TXN_OFFSET_COMMIT, fixed + member + b"rest")

    answered = offsets(5, b"\x02m") and offsets(-1, b"\x02m") and offsets(5, b"\x01")
    return answered and (b.proxy.members, b.proxy.nobodys) == (1, 2)


def skips(b):
    b.proxy.add(Rule(CUT, END_TXN, skip=1))
    return b.ask(END_TXN) and not b.ask(END_TXN)


def knows_transactions(b):
    b.proxy.add(Rule(CUT, PRODUCE, transactional=True))
    return b.ask(PRODUCE) and not b.ask(PRODUCE, b"\x00\x01t")


def stalls(b):
    began = time.monotonic()
    threading.Thread(target=b.proxy.stall, args=(0.3,)).start()
    wait_until(lambda: not b.proxy.moving.is_set(), 10, "a standstill", look_s=0.01)
    return b.ask(PRODUCE) and time.monotonic() - began >= 0.3


def cuts_all(b):
    answered = b.ask(PRODUCE)
    b.proxy.cut_all()
    return answered and not receive(b.client)


def refuses_nonsense(b):
    b.client.sendall(b"\xff\xff\xff\xff")
    return not receive(b.client)


CASES = (passes_on, other_requests_pass, cuts, swallows, delays, waits, holds, releases_in_between, spoils, skips)
CASES += (knows_transactions, sees_whose_offsets_come, stalls, cuts_all, refuses_nonsense)


def run(case):
    bench = Bench()
    try:
        return case(bench)
    except TimeoutError as error:
        print(f"{case.__name__}: {error}")
        return False
    finally:
        bench.proxy.close()


def main():
    failed = [case.__name__ for case in CASES if not run(case)]
    for name in failed:
        print(f"[FAIL] {name}")
    print(f"Synthesis: Tested: {len(CASES)} | Passing: {len(CASES) - len(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
