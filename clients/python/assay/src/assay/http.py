"""Asking an `assay serve` (docs/http.md).

What is said and in which order (retries, following a 202, what each status means) is written once, as generators that
do no I/O: they yield what is to be sent, or a pause in seconds, and get what came back. Judge and AsyncJudge run them,
each over its own client of httpx.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import (Any, AsyncIterator, Dict, Generator, Iterable, Iterator, List, Mapping, Optional, Tuple,
                    TypeVar, Union)
from urllib.parse import quote

import httpx

from ._json import decode, encode
from .errors import AssayError, MalformedAnswer, NotYet, Problem, Refused, Unavailable, Unreachable, UnknownVerdict
from .request import identified
from .verdict import Choice, Verdict

T = TypeVar("T")
Request = Mapping[str, Any]
Verify = Union[bool, str, ssl.SSLContext]

BATCH, BATCH_BYTES = 1000, 16 << 20  # requests that the server takes at once
MAX_BYTES = 64 << 20  # of one answer, or of one line of a batch: what a topic of the fleet takes
MAX_WAIT_S = 30.0  # for which one connection is held open; proxies cut at 60 s and more
FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 5.0  # of retries, doubled each time, half of it by chance
CONNECT_S = 5.0


@dataclass(frozen=True)
class LineProblem:
    """A request of a batch that got no verdict: which one, counted from 1, and why."""

    line: int
    problem: AssayError


@dataclass(frozen=True)
class _Send:
    method: str
    path: str
    body: Optional[bytes]
    until: float  # on time.monotonic
    id: Optional[str] = None  # of the request, where one is sent
    type: str = "application/json"
    waits: bool = False  # for the verdict, on the server, as long as there is time

    def timeout(self) -> httpx.Timeout:
        left = max(0.001, self.until - time.monotonic())
        return httpx.Timeout(left, connect=min(CONNECT_S, left))

    def arguments(self) -> Dict[str, Any]:
        headers = {"Content-Type": self.type} if self.body is not None else {}
        url = f"{self.path}?wait_ms={self.wait_ms()}" if self.waits else self.path
        return {"method": self.method, "url": url, "content": self.body, "headers": headers, "timeout": self.timeout()}

    def wait_ms(self) -> int:
        """Less than what is left, so that there is time for the answer."""
        return int(1000 * max(0.0, min(0.9 * (self.until - time.monotonic()), MAX_WAIT_S)))

    def take(self, body: bytearray, part: bytes) -> None:
        body += part
        if len(body) > MAX_BYTES:
            raise MalformedAnswer(f"an answer of more than {MAX_BYTES} bytes")
        if time.monotonic() > self.until:
            raise NotYet("the answer did not come to its end in time", self.id)


@dataclass(frozen=True)
class _Reply:
    status: int  # 0: the connection was refused
    body: bytes = b""
    again_s: float = 0.0  # Retry-After


Flow = Generator[Union[_Send, float], Optional[_Reply], T]


def _again_s(headers: httpx.Headers) -> float:
    said = headers.get("Retry-After", "")
    return min(float(said), 3600.0) if said.isascii() and said.isdigit() else 0.0  # as a date: ours is as good


def _problem(status: int, raw: Any) -> Problem:
    """Of a problem document's JSON."""
    unknown = status == 404 and raw.get("code") == "unknown_id"
    kind = UnknownVerdict if unknown else Unavailable if status == 503 else Refused if status < 500 else Problem
    return kind(status, str(raw.get("code", "unknown")), str(raw.get("title", "")), str(raw.get("detail", "")),
                str(raw.get("hint", "")))


def _error(reply: _Reply) -> AssayError:
    """What a reply that is no success says."""
    if reply.status == 0:
        return Unreachable("unreachable", "the connection was refused")
    try:
        raw = decode(reply.body)
    except ValueError:
        raw = None
    if reply.status >= 400 and isinstance(raw, dict):
        return _problem(reply.status, raw)
    if reply.status == 503:  # a proxy's, before the server
        return Unavailable(503, "unreachable", "unavailable", "503 without a problem document: whatever stands before "
                           "the server said it")
    return MalformedAnswer(f"status {reply.status} and no problem document: {reply.body[:80]!r}")


def _was_refused(error: Optional[BaseException]) -> bool:
    """Is a refused connection behind this error, on every address that was tried?"""
    if error is None or isinstance(error, ConnectionRefusedError):
        return error is not None
    several = getattr(error, "exceptions", ())
    return all(map(_was_refused, several)) if several else _was_refused(error.__cause__ or error.__context__)


def _lost(error: httpx.HTTPError, send: _Send) -> AssayError:
    """What a connection that failed means, but for one that was refused."""
    if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
        return NotYet("no connection in time; nothing was sent")
    if isinstance(error, httpx.TimeoutException):
        return NotYet("no answer in time", send.id)
    if isinstance(error, httpx.DecodingError):
        return MalformedAnswer(str(error))
    if isinstance(error, httpx.RemoteProtocolError):
        return Unreachable("unreachable", f"the answer was cut off or is no HTTP: {error}")
    return Unreachable("unreachable", str(error) or type(error).__name__)


class _Attempts:
    """Only what was certainly not taken is sent again: 503, and a connection that was refused."""

    def __init__(self, retries: int, until: float) -> None:
        self.left, self.until, self.pause = retries, until, FIRST_PAUSE_S

    def next_pause(self, reply: _Reply) -> float:
        """Seconds until the next attempt. Raises what the reply says when there is none."""
        pause = max(reply.again_s, self.pause * random.uniform(0.5, 1.0))
        if reply.status not in (0, 503) or self.left <= 0 or time.monotonic() + pause >= self.until:
            raise _error(reply)
        self.left, self.pause = self.left - 1, min(2 * self.pause, LAST_PAUSE_S)
        return pause


class _BatchReader:
    """The lines of an answer to a batch, as they come. Split at line feeds alone: a text may hold what Unicode calls
    the end of a line."""

    def __init__(self, requests: int, before: int) -> None:
        self.requests, self.before, self.seen, self.rest = requests, before, 0, b""

    def feed(self, part: bytes) -> Iterator[Union[Verdict, LineProblem]]:
        *lines, self.rest = (self.rest + part).split(b"\n")
        if len(self.rest) > MAX_BYTES:
            raise MalformedAnswer(f"a line of more than {MAX_BYTES} bytes")
        for line in lines:
            if line.strip():
                yield self.read(line)

    def read(self, line: bytes) -> Union[Verdict, LineProblem]:
        self.seen += 1
        try:
            raw = decode(line)
        except ValueError as error:
            raise MalformedAnswer(f"line {self.seen} of the answer is no JSON: {error}") from error
        if not isinstance(raw, dict) or not isinstance(raw.get("line"), int):
            raise MalformedAnswer(f"line {self.seen} of the answer does not say what it answers: {line[:80]!r}")
        raw["line"] += self.before
        problem = raw.get("problem")
        if isinstance(problem, dict):
            status = problem.get("status")
            return LineProblem(raw["line"], _problem(status if isinstance(status, int) else 400, problem))
        if "location" in raw and "status" not in raw:
            return LineProblem(raw["line"], NotYet("the verdict is not there yet", raw.get("id")))
        return Verdict.of(raw)

    def end(self) -> Iterator[Union[Verdict, LineProblem]]:
        if self.rest.strip():
            yield self.read(self.rest)
        if self.seen != self.requests:
            raise MalformedAnswer(f"{self.seen} answers to {self.requests} requests")


class _Caller:
    """What both clients know of the server, and the conversations with it."""

    def __init__(self, url: str, token: Optional[str], verify: Verify, timeout: float, retries: int) -> None:
        if httpx.URL(url).scheme not in ("http", "https") or not httpx.URL(url).host:
            raise ValueError(f"{url!r} is no http:// or https:// address")
        self.url, self._default_s, self._retries = url.rstrip("/"), timeout, retries
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        context = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else verify
        self._settings: Dict[str, Any] = {"base_url": self.url, "headers": headers, "verify": context}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _until(self, timeout: Optional[float]) -> float:
        return time.monotonic() + (self._default_s if timeout is None else timeout)

    def _exchange(self, send: _Send) -> Flow[_Reply]:
        attempts = _Attempts(self._retries, send.until)
        while True:
            reply = yield send
            assert reply is not None
            if reply.status not in (0, 503):
                return reply
            yield attempts.next_pause(reply)

    def _get(self, id: str, until: float) -> Flow[_Reply]:
        return (yield from self._exchange(_Send("GET", f"/v1/verdicts/{quote(id, safe='')}", None, until, id)))

    def _judge(self, request: Request, timeout: Optional[float]) -> Flow[Verdict]:
        until = self._until(timeout)
        id, request = identified(request)
        send = _Send("POST", "/v1/judge", encode(request), until, id, waits=True)
        return (yield from self._follow(id, (yield from self._exchange(send)), until, None))

    def _answer(self, id: str, choice: Union[Choice, str], timeout: Optional[float]) -> Flow[Verdict]:
        until = self._until(timeout)
        chosen = choice.id if isinstance(choice, Choice) else choice
        send = _Send("POST", f"/v1/verdicts/{quote(id, safe='')}/answers", encode({"choice": chosen}), until, id,
                     waits=True)
        return (yield from self._follow(id, (yield from self._exchange(send)), until, chosen))

    def _verdict(self, id: str, timeout: Optional[float]) -> Flow[Verdict]:
        reply = yield from self._get(id, self._until(timeout))
        if reply.status != 200:
            raise _error(reply)
        return Verdict.parse(reply.body)

    def _wait(self, id: str, timeout: Optional[float]) -> Flow[Verdict]:
        until = self._until(timeout)
        return (yield from self._follow(id, (yield from self._get(id, until)), until, None))

    def _follow(self, id: str, reply: _Reply, until: float, chosen: Optional[str]) -> Flow[Verdict]:
        """To the verdict of that id; with `chosen`, to the one that goes by this answer, since the one that asked has
        the same id."""
        while True:
            if reply.status == 200:
                verdict = Verdict.parse(reply.body)
                if chosen is None or any(answer.choice == chosen
                                         for answer in verdict.answers) or verdict.status == "failed":
                    return verdict
            elif reply.status != 202 and not isinstance(_error(reply), UnknownVerdict):
                raise _error(reply)
            pause = max(reply.again_s, 1.0)
            if time.monotonic() + pause >= until:
                raise NotYet("the verdict is not there yet", id)
            yield pause
            reply = yield from self._get(id, until)

    def _batches(self, requests: Iterable[Request], order: str,
                 timeout: Optional[float]) -> Iterator[Tuple[_Send, _BatchReader]]:
        if order not in ("input", "done"):
            raise ValueError(f"order is \"input\" or \"done\", not {order!r}")
        lines, before = map(lambda request: encode(identified(request)[1]) + b"\n", requests), 0
        for batch in _chunks(lines):
            send = _Send("POST", f"/v1/batch?order={order}", b"".join(batch), self._until(timeout), None,
                         "application/x-ndjson")
            yield send, _BatchReader(len(batch), before)
            before += len(batch)


def _chunks(lines: Iterable[bytes]) -> Iterator[List[bytes]]:
    """As many lines as the server takes at once; one that is too long by itself comes alone, and the server says so."""
    chunk: List[bytes] = []
    size = 0
    for line in lines:
        if chunk and (len(chunk) == BATCH or size + len(line) > BATCH_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield chunk


class Judge(_Caller):
    """A server of Assay. Any number of threads may use it. Times are seconds; `timeout` is that of a whole call, and of
    a batch how long its next answer may take. `verify`: True, False, a file of certificates, or an SSLContext."""

    def __init__(self, url: str, *, token: Optional[str] = None, verify: Verify = True, timeout: float = 30.0,
                 retries: int = 3) -> None:
        super().__init__(url, token, verify, timeout, retries)
        self._client = httpx.Client(**self._settings)

    def judge(self, request: Request, *, timeout: Optional[float] = None) -> Verdict:
        """The verdict, once it is there. NotYet: not in time; ask wait() for it by id."""
        return self._run(self._judge(request, timeout))

    def verdict(self, id: str, *, timeout: Optional[float] = None) -> Verdict:
        """The newest verdict of that id. UnknownVerdict: there is none, not yet or not any more."""
        return self._run(self._verdict(id, timeout))

    def wait(self, id: str, *, timeout: Optional[float] = None) -> Verdict:
        """The newest verdict of that id, once there is one."""
        return self._run(self._wait(id, timeout))

    def answer(self, id: str, choice: Union[Choice, str], *, timeout: Optional[float] = None) -> Verdict:
        """What the person chose of the clarification of that verdict: the verdict that goes by it."""
        return self._run(self._answer(id, choice, timeout))

    def batch(
        self, requests: Iterable[Request], *, order: str = "input", timeout: Optional[float] = None
    ) -> Iterator[Union[Verdict, LineProblem]]:
        """One answer each, in the order of the requests, or with order="done" as they come. More than 1,000 are sent as
        several batches."""
        for send, reader in self._batches(requests, order, timeout):
            attempts = _Attempts(self._retries, send.until)
            while True:
                with self._open(send) as answer:
                    if answer is not None and answer.status_code == 200:
                        for part in answer.iter_bytes():
                            yield from reader.feed(part)
                        yield from reader.end()
                        break
                    reply = self._read(send, answer)
                time.sleep(attempts.next_pause(reply))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _open(self, send: _Send) -> Iterator[Optional[httpx.Response]]:
        """The answer, whose body is still to be read; None: the connection was refused."""
        try:
            with self._client.stream(**send.arguments()) as answer:
                yield answer
                return
        except httpx.HTTPError as error:
            if not (isinstance(error, httpx.ConnectError) and _was_refused(error)):
                raise _lost(error, send) from error
        yield None

    def _read(self, send: _Send, answer: Optional[httpx.Response]) -> _Reply:
        if answer is None:
            return _Reply(0)
        body = bytearray()
        for part in answer.iter_bytes():
            send.take(body, part)
        return _Reply(answer.status_code, bytes(body), _again_s(answer.headers))

    def _run(self, flow: Flow[T]) -> T:
        reply: Optional[_Reply] = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            reply = None
            if isinstance(step, _Send):
                with self._open(step) as answer:
                    reply = self._read(step, answer)
            else:
                time.sleep(step)


class AsyncJudge(_Caller):
    """Judge for asyncio: the same calls, awaited."""

    def __init__(self, url: str, *, token: Optional[str] = None, verify: Verify = True, timeout: float = 30.0,
                 retries: int = 3) -> None:
        super().__init__(url, token, verify, timeout, retries)
        self._client = httpx.AsyncClient(**self._settings)

    async def judge(self, request: Request, *, timeout: Optional[float] = None) -> Verdict:
        return await self._run(self._judge(request, timeout))

    async def verdict(self, id: str, *, timeout: Optional[float] = None) -> Verdict:
        return await self._run(self._verdict(id, timeout))

    async def wait(self, id: str, *, timeout: Optional[float] = None) -> Verdict:
        return await self._run(self._wait(id, timeout))

    async def answer(self, id: str, choice: Union[Choice, str], *, timeout: Optional[float] = None) -> Verdict:
        return await self._run(self._answer(id, choice, timeout))

    async def batch(
        self, requests: Iterable[Request], *, order: str = "input", timeout: Optional[float] = None
    ) -> AsyncIterator[Union[Verdict, LineProblem]]:
        for send, reader in self._batches(requests, order, timeout):
            attempts = _Attempts(self._retries, send.until)
            while True:
                async with self._open(send) as answer:
                    if answer is not None and answer.status_code == 200:
                        async for part in answer.aiter_bytes():
                            for item in reader.feed(part):
                                yield item
                        for item in reader.end():
                            yield item
                        break
                    reply = await self._read(send, answer)
                await asyncio.sleep(attempts.next_pause(reply))

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> AsyncJudge:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def _open(self, send: _Send) -> AsyncIterator[Optional[httpx.Response]]:
        try:
            async with self._client.stream(**send.arguments()) as answer:
                yield answer
                return
        except httpx.HTTPError as error:
            if not (isinstance(error, httpx.ConnectError) and _was_refused(error)):
                raise _lost(error, send) from error
        yield None

    async def _read(self, send: _Send, answer: Optional[httpx.Response]) -> _Reply:
        if answer is None:
            return _Reply(0)
        body = bytearray()
        async for part in answer.aiter_bytes():
            send.take(body, part)
        return _Reply(answer.status_code, bytes(body), _again_s(answer.headers))

    async def _run(self, flow: Flow[T]) -> T:
        reply: Optional[_Reply] = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            reply = None
            if isinstance(step, _Send):
                async with self._open(step) as answer:
                    reply = await self._read(step, answer)
            else:
                await asyncio.sleep(step)
