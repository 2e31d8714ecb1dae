"""Judging in this process, by libassay (docs/library.md): no server, and the GIL is free while it judges.

Fork: an engine has threads, and they are not in a forked child. A child that uses its parent's engine gets Forked, at
once; it may open one of its own, unless the parent was judging when it forked: locks of the library may then be held
for ever in the child, and opening is refused there too. With multiprocessing use the start methods "spawn" or
"forkserver", or fork before an engine judges.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import os
import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Set, Union

from . import _library
from ._json import encode
from .errors import EngineError, Forked
from .request import Candidates, Options, request as make_request
from .verdict import Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path_ = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Database:
    """A database that requests name `name`: a file of SQLite, a connection string of PostgreSQL or a URL of MariaDB.
    `expose` and `deny_columns` bind all requests."""

    name: str
    path: Path_
    descriptions: Optional[Path_] = None
    expose: Optional[str] = None
    deny_columns: Sequence[str] = ()


class _Settings:
    """assay_options with what its pointers point at."""

    def __init__(self, databases: Sequence[Database], texts: Mapping[str, Optional[Path_]],
                 numbers: Mapping[str, int]) -> None:
        self.options = _library.Options()
        _library.load().options_init_sized(self.options, ctypes.sizeof(_library.Options),
                                           ctypes.sizeof(_library.Database))
        self.rows = (_library.Database * len(databases))(*map(self._row, databases))
        self.options.databases, self.options.n_databases = self.rows, len(databases)
        for name, text in texts.items():
            setattr(self.options, name, _text(text))
        for name, number in numbers.items():
            if number < 0:
                raise ValueError(f"{name}: {number} is below 0")
            setattr(self.options, name, number)

    @staticmethod
    def _row(database: Database) -> _library.Database:
        columns = (ctypes.c_char_p * len(database.deny_columns))(*map(_text, database.deny_columns))
        texts = map(_text, (database.name, database.path, database.descriptions, database.expose))
        return _library.Database(*texts, columns, len(database.deny_columns))


def _text(value: Optional[Path_]) -> Optional[bytes]:
    return None if value is None else os.fsencode(value)


def _failure(error: Optional[_library.Error]) -> EngineError:
    if error is None:
        return EngineError("internal", "libassay gave neither a verdict nor an error")
    text = error.text.decode(errors="replace")
    return EngineError(error.code.decode(errors="replace"), text, retry=error.result == _library.RETRY,
                       fatal=error.result == _library.FATAL)


class Engine:
    """Opening loads the models and starts threads; keep it. Any number of threads may share one.

    `databases`: Database objects, or {name: path}; `database_root`: a folder with databases as DB/DB.sqlite or
    DB.sqlite; `defaults`: for what requests leave open, {"policy": "ask"}; `executor`: the program `assay`, in whose
    processes statements then run, so that one which overruns can be ended; `limits`: threads, window, statement_ms,
    statement_rows, statement_bytes, index_bytes, sqlite_bytes of engine/assay.h, and its show_locations.
    """

    def __init__(
        self,
        databases: Union[Sequence[Database], Mapping[str, Path_]] = (),
        *,
        database_root: Optional[Path_] = None,
        models: Optional[Path_] = None,
        executor: Optional[Path_] = None,
        defaults: Optional[Mapping[str, Any]] = None,
        **limits: int,
    ) -> None:
        if _forked_while_judging:
            raise Forked("this process was forked while an engine of its parent judged, and locks may be held here for "
                         "ever: start it with \"spawn\"")
        if not set(limits) <= set(_library.LIMITS):
            raise TypeError(f"no such limit: {', '.join(sorted(set(limits) - set(_library.LIMITS)))}; there are "
                            f"{', '.join(_library.LIMITS)}")
        rows = [Database(*pair) for pair in databases.items()] if isinstance(databases, Mapping) else list(databases)
        texts = {
            "database_root": database_root, "models": models, "executor": executor,
            "defaults": encode(defaults).decode() if defaults is not None else None,
        }
        settings = _Settings(rows, texts, limits)
        self._library, self._handle, error = _library.load(), ctypes.c_void_p(), _library.Error()
        self._pid, self._lock, self._left = os.getpid(), threading.Lock(), threading.Event()
        # inside: calls of the library now; thread: the one that calls back
        self._inside, self._last, self._thread = 0, 0, 0
        self._futures: Dict[int, Future[Verdict]] = {}
        self._callback = _library.Callback(self._answer)
        if self._library.open(settings.options, self._handle, error) != _library.OK:
            self._handle = ctypes.c_void_p()
            raise _failure(error)
        _open_engines.add(self)

    # --- judging ---

    def judge(self, request: Mapping[str, Any]) -> Verdict:
        """The verdict, once it is there: `deadline_ms` of the request bounds how long that takes. EngineError: no valid
        request, or closed."""
        handle = self._enter()
        try:
            return self._judge(handle, request)
        finally:
            self._leave()

    def submit(self, request: Mapping[str, Any], *, timeout: Optional[float] = None) -> Future[Verdict]:
        """A future of the verdict. Waits up to `timeout` seconds (None: for ever) while as many are out as `window`
        allows: EngineError `full`, with `retry`. What is added with add_done_callback runs on the engine's thread: it
        should be short, and may submit but not judge or close."""
        line, error = encode(request), _library.Error()
        future: Future[Verdict] = Future()
        handle = self._enter()
        try:
            with self._lock:
                self._last = key = self._last + 1
                self._futures[key] = future
            future.set_running_or_notify_cancel()
            wait_ms = -1 if timeout is None else int(1000 * timeout)
            if self._library.submit(handle, line, len(line), wait_ms, self._callback, key, error) != _library.OK:
                with self._lock:
                    del self._futures[key]
                raise _failure(error)
        finally:
            self._leave()
        return future

    async def ajudge(self, request: Mapping[str, Any]) -> Verdict:
        """judge() for asyncio: other tasks run meanwhile. Waits its turn without a thread of its own while the window
        is full."""
        pause_s = 0.001
        while True:
            try:
                return await asyncio.wrap_future(self.submit(request, timeout=0))
            except EngineError as error:
                if not error.retry:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.05)

    def _judge(self, handle: ctypes.c_void_p, request: Mapping[str, Any]) -> Verdict:
        line, out, error = encode(request), ctypes.c_void_p(), _library.Error()
        self._library.judge(handle, line, len(line), out, error)
        return self._take(out.value, error)

    def _take(self, verdict: Optional[int], error: Optional[_library.Error]) -> Verdict:
        """Frees the library's verdict."""
        if not verdict:
            raise _failure(error)
        try:
            text = self._library.verdict_json(verdict)
        finally:
            self._library.verdict_free(verdict)
        if text is None:
            raise MemoryError("no memory for a verdict's JSON")
        return Verdict.parse(text)

    def _answer(self, key: int, verdict: Optional[int], error: Any) -> None:
        """On the engine's thread: whatever happens, the future hears of it."""
        self._thread = threading.get_ident()
        with self._lock:
            future = self._futures.pop(key)
        try:
            future.set_result(self._take(verdict, error.contents if error else None))
        except BaseException as failure:  # also one of this method's own: there is nobody above
            future.set_exception(failure)

    # --- opening and closing ---

    def _enter(self) -> ctypes.c_void_p:
        """The library's engine, which may be called until _leave: close() waits for that."""
        if os.getpid() != self._pid:
            raise Forked(f"this engine was opened by process {self._pid}, and its threads are not here: open one in "
                         "this process")
        with self._lock:
            if not self._handle:
                raise EngineError("closed", "this engine is closed")
            self._inside += 1
            return self._handle

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._handle and not self._inside:
                self._left.set()

    def close(self) -> None:
        """Waits for what other threads have judge() judge; futures that are still out get EngineError `cancelled`."""
        if os.getpid() != self._pid:
            return  # there is nothing of it here that could be stopped
        if threading.get_ident() == self._thread:
            raise EngineError("refused", "an engine cannot be closed on its own thread, where futures' callbacks run")
        with self._lock:
            handle, self._handle = self._handle, ctypes.c_void_p()
            if not self._inside:
                self._left.set()
        self._left.wait()
        self._library.close(handle)
        _open_engines.discard(self)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open_engines: Set[Engine] = set()  # held until they are closed: the library calls back into them
_forked_while_judging = False


def _after_fork() -> None:
    """In the child. Whoever was inside the library, or waited for it, is not here."""
    global _forked_while_judging
    _forked_while_judging = _forked_while_judging or any(engine._inside or engine._futures for engine in _open_engines)
    _open_engines.clear()
    _checks.forget()


def _close_all() -> None:
    """Before the interpreter ends: an engine's thread that then came with an answer would find none."""
    for engine in list(_open_engines):
        engine.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_close_all)


class _Checks:
    """The engines of check(), one a database, those that were asked last."""

    KEPT = 8

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.lock = threading.Lock()
        self.engines: OrderedDict[str, Engine] = OrderedDict()

    def judge(self, name: str, db: str, request: Mapping[str, Any]) -> Verdict:
        """By an engine that is not closed meanwhile, whatever else is asked."""
        with self.lock:
            engine = self.engines.pop(db, None) or Engine([Database(name, db)])
            self.engines[db] = engine
            old = [self.engines.popitem(last=False)[1] for _ in range(len(self.engines) - self.KEPT)]
            handle = engine._enter()
        try:
            for one in old:
                one.close()
            return engine._judge(handle, request)
        finally:
            engine._leave()


_checks = _Checks()
_SERVERS = {"postgres://": "postgres", "postgresql://": "postgres", "mariadb://": "mariadb"}


def check(question: str, db: Path_, candidates: Candidates, **options: Unpack[Options]) -> Verdict:
    """Judges candidates as `assay check` does. `db`: a file of SQLite, a connection string of PostgreSQL or a URL of
    MariaDB; engines are kept for the eight that were asked about last. A database that is not there is no exception:
    the verdict's status is `failed`."""
    path = os.fspath(db)
    server = next((name for scheme, name in _SERVERS.items() if path.startswith(scheme)), None)
    if server is None and "=" in path and not os.path.exists(path): server = "postgres"
    name, path = (server, path) if server else (Path(path).stem, os.path.abspath(path))
    return _checks.judge(name, path, make_request(question, name, candidates, **options))


__all__: List[str] = ["Database", "Engine", "check"]
