"""What can go wrong, by what may be done about it. A verdict of status `failed` is a verdict and no error."""

from __future__ import annotations

from typing import Optional


class AssayError(Exception):
    """Any failure of this package. `code` is the name of an error code, as verdicts and logs use it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code, self.message = code, message


class Problem(AssayError):
    """The server answered with a problem document (RFC 9457): `status` of HTTP, `title`, `detail`, `code`, `hint`."""

    def __init__(self, status: int, code: str, title: str, detail: str, hint: str = "") -> None:
        super().__init__(code, "; ".join(filter(None, (detail or title, hint))))
        self.status, self.title, self.detail, self.hint = status, title, detail, hint


class Refused(Problem):
    """4xx: this request will never succeed as it is."""


class UnknownVerdict(Refused):
    """404 `unknown_id`: no verdict of that id is known there, not yet or not any more."""


class Unavailable(Problem):
    """503, and still after all retries: it may succeed later."""


class Unreachable(AssayError, ConnectionError):
    """Nobody listens, or the connection broke. What was sent may have been taken: ask for its verdict by id."""


class NotYet(AssayError, TimeoutError):
    """The time was up before the verdict was there. Where `id` is set, the request was sent and will be judged: ask for
    its verdict by that id."""

    def __init__(self, message: str, id: Optional[str] = None) -> None:
        super().__init__("deadline", message)
        self.id = id


class MalformedAnswer(AssayError):
    """What came back is nothing that a server of Assay says: another server, a proxy's page, a cut off answer."""

    def __init__(self, message: str) -> None:
        super().__init__("malformed", message)


class EngineError(AssayError):
    """libassay refused a call. `retry`: the same call may succeed later; `fatal`: the engine cannot go on."""

    def __init__(self, code: str, message: str, *, retry: bool = False, fatal: bool = False) -> None:
        super().__init__(code, message)
        self.retry, self.fatal = retry, fatal


class Forked(EngineError):
    """An engine was used in a process that was forked from its own, where its threads are not."""

    def __init__(self, message: str) -> None:
        super().__init__("refused", message)
