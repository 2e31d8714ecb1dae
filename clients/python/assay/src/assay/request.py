"""A request as a line of a query log has it: what all ways of asking take (docs/formats.md)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack

Candidates = Sequence[Union[str, Mapping[str, Any]]]  # SQL, or {"sql", "count", "score", "generators"}


class Options(TypedDict, total=False):
    """All that a request may say beside question, database and candidates."""

    id: str
    evidence: str
    gold: str
    meta: Any
    answers: List[Mapping[str, str]]
    linking: Mapping[str, Any]
    deadline_ms: int
    max_iterations: int
    speculate: int
    strategy: str
    policy: str
    order: str
    repair: str
    repair_margin: float
    expose: str
    threshold: float
    alpha: float
    delta: float
    ask_gain: float
    families: List[str]
    deny_columns: List[str]
    explain: Union[bool, str]
    cache: bool


def request(question: str, db: str, candidates: Candidates, **options: Unpack[Options]) -> Dict[str, Any]:
    """A request for judge(), batch(), submit() and send(). TypeError: no such option; servers ignore what they do not
    know."""
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"no such option of a request: {', '.join(unknown)}; there are "
                        f"{', '.join(sorted(Options.__annotations__))}")
    if isinstance(candidates, (str, bytes)):
        raise TypeError("candidates are a list of SQL, not one text")
    return {"db": db, "question": question, "candidates": list(candidates), **options}


def identified(request: Mapping[str, Any]) -> Tuple[str, Mapping[str, Any]]:
    """The request with an id, made up where it has none: sent again under it, it is known as the same."""
    if request.get("id"):
        return request["id"], request
    id = uuid.uuid4().hex
    return id, {**request, "id": id}
