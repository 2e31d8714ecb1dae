"""A TCP proxy that understands enough of Kafka to fail at the worst moment.

It relays between some clients and the brokers' listener PROXIED (tests/live/servers.sh). That listener advertises the
proxy's own ports, so no address has to be rewritten. The proxy reads frames, identifies each request by the api key in
its header and each reply by the correlation id, and applies the rules:

  cut       the request never arrives, and the connection breaks
  swallow   the request arrives, but instead of its reply the connection breaks; the client cannot know the outcome
  wait      the request arrives `seconds` later
  delay     the reply arrives `seconds` later
  spoil     TxnOffsetCommit arrives with an invalid generation: the broker refuses it, as it refuses a replaced member,
            and the transaction must be aborted
  hold      the request is held and the connection to the client breaks; release() delivers the request long after the
            client has retried, like a slow packet

When a rule applies, its `then` is called first, in the proxy's thread. stall(seconds) works without frames: no byte
moves and no connection breaks.
"""
import asyncio
import struct
import threading
import time
from dataclasses import dataclass, field

PRODUCE, FETCH, JOIN_GROUP, HEARTBEAT = 0, 1, 11, 12
INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, TXN_OFFSET_COMMIT = 22, 24, 25, 26, 28
NAMES = {
    PRODUCE: "Produce",
    FETCH: "Fetch",
    JOIN_GROUP: "JoinGroup",
    HEARTBEAT: "Heartbeat",
    INIT_PRODUCER_ID: "InitProducerId",
    ADD_PARTITIONS: "AddPartitionsToTxn",
    ADD_OFFSETS: "AddOffsetsToTxn",
    END_TXN: "EndTxn",
    TXN_OFFSET_COMMIT: "TxnOffsetCommit",
}
CUT, SWALLOW, WAIT, DELAY, SPOIL, HOLD = "cut", "swallow", "wait", "delay", "spoil", "hold"
MAX_FRAME = 128 << 20


@dataclass
class Rule:
    action: str
    api: int
    count: int = 1  # how many requests the rule affects
    skip: int = 0  # how many requests pass before that
    seconds: float = 0
    transactional: bool | None = None  # of Produce: only with (without) a transactional.id
    then: callable = None
    struck: int = 0

    def strikes(self, request):
        if request.api != self.api or self.struck >= self.count:
            return False
        if self.transactional is not None and request.is_transactional() != self.transactional:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.struck += 1
        return True


@dataclass
class Request:
    frame: bytes
    api: int = field(init=False)
    correlation: int = field(init=False)

    def __post_init__(self):
        self.api, _, self.correlation = struct.unpack_from(">hhi", self.frame)

    def body(self):
        """Skips the part after the client's id, in the versions that librdkafka 2.0 sends for Produce and
        transactions."""
        (length,) = struct.unpack_from(">h", self.frame, 8)
        return self.frame[10 + max(length, 0) :]

    def is_transactional(self):
        return self.body()[:2] != b"\xff\xff"

    def _generation(self):
        """Reads TxnOffsetCommit version 3: no tags, transactional id, group, producer's id and epoch, generation,
        member. Returns the body and the position of the generation in it."""
        body = self.body()
        return body, _past_text(body, _past_text(body, 1)) + 8 + 2

    def is_nobodys(self):
        """Returns true if the request has no membership. Brokers accept such requests, and the group cannot fence
        them."""
        body, at = self._generation()
        return struct.unpack_from(">i", body, at)[0] < 0 or body[at + 4] <= 1

    def spoiled(self):
        body, at = self._generation()
        (generation,) = struct.unpack_from(">i", body, at)
        start = len(self.frame) - len(body)
        return self.frame[: start + at] + struct.pack(">i", generation + 1000) + body[at + 4 :]


def _past_text(body, at):
    """Returns the position after a compact string: its length plus one, seven bits a byte."""
    length = shift = 0
    while True:
        length |= (body[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if body[at - 1] < 0x80:
            return at + length - 1


class Proxy:
    """Runs in its own thread. Any thread may call the public functions."""

    def __init__(self, pairs, log=print):
        self.pairs, self.log = pairs, log
        self.rules, self.held, self.connections, self.serving = [], [], set(), set()
        self.members, self.nobodys = 0, 0  # offsets committed in transactions with and without a membership
        self.moving = threading.Event()
        self.moving.set()
        self.loop, self.ready = asyncio.new_event_loop(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        if not self.ready.wait(10):
            raise TimeoutError("the proxy did not start")

    def add(self, *rules):
        self.rules.extend(rules)

    def clear(self):
        self.rules.clear()

    def struck(self):
        return sum(rule.struck for rule in self.rules)

    def cut_all(self):
        self.log(f"proxy: cuts {len(self.connections)} connections")
        self.loop.call_soon_threadsafe(lambda: [w.transport.abort() for w in list(self.connections)])

    def stall(self, seconds):
        self.log(f"proxy: nothing moves for {seconds} s")
        self.moving.clear()
        time.sleep(seconds)
        self.moving.set()

    def release(self):
        """Delivers the requests that were held."""
        held, self.held = self.held, []
        for request, upstream in held:
            self.log(f"proxy: a {NAMES.get(request.api, request.api)} arrives late")
            self.loop.call_soon_threadsafe(upstream.write, _framed(request.frame))
        return len(held)

    def close(self):
        self.moving.set()
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    # --- the loop's own functions ---

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.ready.set()
        self.loop.run_forever()
        self.loop.close()

    async def _listen(self):
        self.listeners = [
            await asyncio.start_server(lambda r, w, to=target: self._serve(r, w, to), host, port)
            for (host, port), target in self.pairs
        ]

    async def _end(self):
        for listener in self.listeners:
            listener.close()
        for writer in [*self.connections, *(upstream for _, upstream in self.held)]:
            writer.transport.abort()
        await asyncio.gather(*self.serving, return_exceptions=True)

    async def _serve(self, reader, writer, target):
        task = asyncio.current_task()
        self.serving.add(task)
        try:
            await self._pass_on(reader, writer, target)
        finally:
            self.serving.discard(task)

    async def _pass_on(self, reader, writer, target):
        try:
            from_broker, to_broker = await asyncio.open_connection(*target)
        except OSError:  # the broker is down, so the proxy refuses too
            writer.transport.abort()
            return
        connection = Connection(self, writer, to_broker)
        self.connections |= {writer, to_broker}
        try:
            tasks = {
                asyncio.ensure_future(connection.requests(reader)),
                asyncio.ensure_future(connection.answers(from_broker)),
            }
            _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self.connections -= {writer, to_broker}
            writer.transport.abort()
            if not connection.keeps_upstream:
                to_broker.transport.abort()

    async def wait_until_moving(self):
        while not self.moving.is_set():
            await asyncio.sleep(0.05)

    def rule_for(self, request):
        return next((rule for rule in self.rules if rule.strikes(request)), None)


class Connection:
    def __init__(self, proxy, to_client, to_broker):
        self.proxy, self.to_client, self.to_broker = proxy, to_client, to_broker
        self.waiting = {}  # correlation id -> rule for its answer
        self.keeps_upstream = False

    async def requests(self, reader):
        while True:
            request = Request(await _frame(reader))
            await self.proxy.wait_until_moving()
            self.look_at(request)
            rule = self.proxy.rule_for(request)
            if rule:
                self.strike(rule, request)
            if rule and rule.action == CUT:
                return
            if rule and rule.action == HOLD:
                self.keeps_upstream = True
                self.proxy.held.append((request, self.to_broker))
                return
            if rule:
                self.waiting[request.correlation] = rule
            if rule and rule.action == WAIT:
                await asyncio.sleep(rule.seconds)
            self.to_broker.write(_framed(request.spoiled() if rule and rule.action == SPOIL else request.frame))
            await self.to_broker.drain()

    def look_at(self, request):
        if request.api != TXN_OFFSET_COMMIT:
            return
        if request.is_nobodys():
            self.proxy.nobodys += 1
        else:
            self.proxy.members += 1

    def strike(self, rule, request):
        self.proxy.log(f"proxy: {rule.action} {NAMES.get(request.api, request.api)}")
        if rule.then:
            rule.then()

    async def answers(self, reader):
        while True:
            frame = await _frame(reader)
            await self.proxy.wait_until_moving()
            (correlation,) = struct.unpack_from(">i", frame)
            rule = self.waiting.pop(correlation, None)
            if rule and rule.action == SWALLOW:
                return
            if rule and rule.action == DELAY:
                await asyncio.sleep(rule.seconds)
            self.to_client.write(_framed(frame))
            await self.to_client.drain()


def _framed(frame):
    return struct.pack(">i", len(frame)) + frame


async def _frame(reader):
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    if not 0 <= length <= MAX_FRAME:
        raise ConnectionError(f"a frame of {length} bytes")
    return await reader.readexactly(length)


def pairs_of(text):
    """Parses ASSAY_TEST_KAFKA_PROXIED: "proxy's host:port=broker's host:port,..."."""
    return [tuple(_address(side) for side in pair.split("=")) for pair in text.split(",")]


def _address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def addresses(pairs):
    return ",".join(f"{host}:{port}" for (host, port), _ in pairs)
