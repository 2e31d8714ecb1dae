"""A verdict as dataclasses (docs/formats.md says what each key means). Each object keeps the JSON that it was made of
as `raw`, with the keys that this version does not know. Numbers that are null in JSON are None. Not frozen: that would
make a verdict cost three times as much."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._json import decode
from .errors import MalformedAnswer

JSON = Mapping[str, Any]
T = TypeVar("T")


def _all(make: Callable[[JSON], T], objects: Optional[Sequence[JSON]]) -> Tuple[T, ...]:
    return tuple(map(make, objects)) if objects else ()


def _one(make: Callable[[JSON], T], raw: Optional[JSON]) -> Optional[T]:
    return make(raw) if raw is not None else None


def _raw() -> Any:
    return field(repr=False, compare=False)


@dataclass
class Clause:
    """A place in a candidate's SQL: UTF-8 bytes from `start` up to `end`."""

    label: str
    text: str
    start: int
    end: int
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Clause:
        return cls(raw["label"], raw["text"], raw["start"], raw["end"], raw)


@dataclass
class Finding:
    signal: str
    severity: str  # "note", "warning", "error"
    message: str
    clauses: Tuple[Clause, ...]
    data: JSON
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Finding:
        return cls(raw["signal"], raw["severity"], raw["message"], _all(Clause.of, raw.get("clauses")),
                   raw.get("data") or {}, raw)


@dataclass
class Execution:
    """How running the candidate went; where it failed, `error` is set and the numbers are None."""

    rows: Optional[int]
    columns: Optional[int]
    ms: Optional[float]
    digest: Optional[str]
    sample: Optional[JSON]  # {"columns", "rows"}, under expose: rows
    error: Optional[str]
    message: Optional[str]
    offset: Optional[int]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Execution:
        get = raw.get
        return cls(get("rows"), get("columns"), get("ms"), get("digest"), get("sample"), get("error"), get("message"),
                   get("offset"), raw)


@dataclass
class Candidate:
    sql: str
    p_correct: Optional[float]
    label_model_p: Optional[float]
    entailment: Optional[float]
    verifier: Optional[str]
    signals: Mapping[str, str]  # name → "fired", "silent", "unavailable"
    unavailable: Mapping[str, str]  # name → reason
    findings: Tuple[Finding, ...]
    execution: Optional[Execution]
    explanation: Optional[str]
    same_as: Optional[int]
    why: Optional[str]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Candidate:
        get = raw.get
        return cls(
            raw["sql"], get("p_correct"), get("label_model_p"), get("entailment"), get("verifier"),
            get("signals") or {}, get("unavailable") or {},
            _all(Finding.of, get("findings")), _one(Execution.of, get("execution")), get("explanation"), get("same_as"),
            get("why"), raw,
        )

    @property
    def fired(self) -> List[str]:
        return [name for name, state in self.signals.items() if state == "fired"]


@dataclass
class RepairStep:
    clause: str
    was: Optional[str]
    now: Optional[str]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> RepairStep:
        return cls(raw["clause"], raw.get("was"), raw.get("now"), raw)


@dataclass
class Repair:
    """A query near the best candidate that is surer to be right. `applied`: it is the answer; `of`: index of the
    candidate."""

    applied: bool
    sql: str
    old_sql: str
    of_candidate: int
    p_old: Optional[float]
    p_correct: Optional[float]
    reason: Optional[str]
    source: Optional[str]
    steps: Tuple[RepairStep, ...]
    proposals: Optional[int]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Repair:
        get = raw.get
        return cls(
            raw["applied"], raw["sql"], raw["old_sql"], raw["of"], get("p_old"), get("p_correct"), get("reason"),
            get("source"),
            _all(RepairStep.of, get("steps")), get("proposals"), raw,
        )


@dataclass
class Choice:
    """A reading of the question. The last one of a clarification is `none`: none of these."""

    id: str
    text: str
    candidate: Optional[int]
    rows: Optional[int]
    sample: Optional[Any]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Choice:
        get = raw.get
        return cls(raw["id"], raw["text"], get("candidate"), get("rows"), get("sample"), raw)


@dataclass
class Clarification:
    """What only the person who asked can know. `request`: to be sent again with the answer."""

    id: str
    question: str
    choices: Tuple[Choice, ...]
    gain: Optional[float]
    request: Optional[JSON]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Clarification:
        return cls(raw["id"], raw["question"], _all(Choice.of, raw["choices"]), raw.get("gain"),
                   raw.get("request"), raw)

    def answered(self, choice: Union[Choice, str]) -> JSON:
        """The request with this answer, to be judged again; for callers without a server that keeps it."""
        if self.request is None:
            raise ValueError("the verdict does not hold its request: send that again, with \"answers\"")
        answer = {"question": self.id, "choice": choice.id if isinstance(choice, Choice) else choice}
        return {**self.request, "answers": [*self.request.get("answers", ()), answer]}


@dataclass
class Answer:
    """What the person who asked chose."""

    question: str
    choice: str
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Answer:
        return cls(raw["question"], raw["choice"], raw)


@dataclass
class Guarantee:
    """The promise that was asked for with `alpha`; `status` is "held", "withdrawn" or "too_few"."""

    alpha: float
    delta: float
    group: str
    records: int
    status: str
    p_value: Optional[float]
    why: Optional[str]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Guarantee:
        get = raw.get
        return cls(raw["alpha"], raw["delta"], raw["group"], raw["records"], raw["status"], get("p_value"),
                   get("why"), raw)


@dataclass
class Report:
    """A signal that fired on the answer, for a person or a model that sets it right."""

    signal: str
    cause: str
    description: str
    example: str
    instruction: str
    clauses: Mapping[str, List[str]]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Report:
        get = raw.get
        return cls(raw["signal"], get("cause", ""), get("description", ""), get("example", ""), get("instruction", ""),
                   get("clauses") or {}, raw)


@dataclass
class LanguageModel:
    """What asking a language model took."""

    calls: int
    cached: int
    tokens_in: int
    tokens_out: int
    cost: Optional[float]
    source: Optional[str]
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> LanguageModel:
        get = raw.get
        return cls(raw["calls"], get("cached", 0), get("tokens_in", 0), get("tokens_out", 0), get("cost"),
                   get("source"), raw)


@dataclass
class Verdict:
    """`status` is "validated", "repaired", "best_effort", "abstained", "ask" or "failed"; a newer server may say
    others."""

    id: str
    db: str
    status: str
    sql: Optional[str]
    chosen: Optional[int]
    p_correct: Optional[float]
    threshold: Optional[float]
    entailment_threshold: Optional[float]
    reason: Optional[str]
    message: Optional[str]
    cause: Optional[str]
    candidates: Tuple[Candidate, ...]
    report: Tuple[Report, ...]
    repair: Optional[Repair]
    questions: Tuple[Any, ...]
    clarification: Optional[Clarification]
    answers: Tuple[Answer, ...]
    guarantee: Optional[Guarantee]
    llm: Optional[LanguageModel]
    unavailable: Tuple[str, ...]
    notes: Tuple[str, ...]
    cached: bool  # a fleet had kept it of an equal request, and judged nothing
    iterations: Optional[int]
    timings: JSON
    versions: JSON
    meta: Any
    line: Optional[int]  # of a batch or a log, from 1
    raw: JSON = _raw()

    @classmethod
    def of(cls, raw: JSON) -> Verdict:
        """MalformedAnswer: it is no verdict."""
        try:
            return cls._of(raw)
        except (KeyError, TypeError, AttributeError) as error:
            raise MalformedAnswer(f"no verdict: {type(error).__name__} {error}") from error

    @classmethod
    def _of(cls, raw: JSON) -> Verdict:
        get = raw.get
        if not isinstance(raw["id"], str) or not isinstance(raw["status"], str):
            raise TypeError("id and status are text")
        return cls(
            raw["id"], get("db", ""), raw["status"], get("sql"), get("chosen"), get("p_correct"), get("threshold"),
            get("entailment_threshold"),
            get("reason"), get("message"), get("cause"), _all(Candidate.of, get("candidates")),
            _all(Report.of, get("report")),
            _one(Repair.of, get("repair")), tuple(get("questions") or ()), _one(Clarification.of, get("clarification")),
            _all(Answer.of, get("answers")), _one(Guarantee.of, get("guarantee")), _one(LanguageModel.of, get("llm")),
            tuple(get("unavailable") or ()), tuple(get("notes") or ()), bool(get("cached")), get("iterations"),
            get("timings") or {},
            get("versions") or {}, get("meta"), get("line"), raw,
        )

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> Verdict:
        """One line of JSON. MalformedAnswer: it is no verdict."""
        try:
            raw = decode(text)
        except ValueError as error:
            raise MalformedAnswer(f"no JSON: {error}") from error
        return cls.of(raw)

    @property
    def validated(self) -> bool:
        """May `sql` be trusted? It is a candidate that was validated, or a repair that was."""
        return self.status in ("validated", "repaired")

    @property
    def answer(self) -> Optional[Candidate]:
        """The chosen candidate; None for a repair, and where none was chosen."""
        return self.candidates[self.chosen] if self.chosen is not None else None
