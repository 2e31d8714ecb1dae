"""Assay judges the candidates of text-to-SQL systems: which one may be trusted, how sure that is, and why.

    from assay import Judge, request

    with Judge("http://127.0.0.1:8080") as judge:
        verdict = judge.judge(request("How many orders are open?", "shop", ["SELECT count(*) FROM orders"]))

Judge and AsyncJudge ask a server, check() and Engine judge in this process, assay.kafka speaks to a fleet, assay.pandas
makes frames of it.
"""

from .engine import Database, Engine, check
from .errors import (AssayError, EngineError, Forked, MalformedAnswer, NotYet, Problem, Refused, Unavailable,
                     UnknownVerdict, Unreachable)
from .http import AsyncJudge, Judge, LineProblem
from .request import Options, request
from .verdict import (
    Answer, Candidate, Choice, Clarification, Clause, Execution, Finding, Guarantee, LanguageModel, Repair, RepairStep,
    Report, Verdict,
)

__all__ = [
    "Answer", "AssayError", "AsyncJudge", "Candidate", "Choice", "Clarification", "Clause", "Database", "Engine",
    "EngineError", "Execution",
    "Finding", "Forked", "Guarantee", "Judge", "LanguageModel", "LineProblem", "MalformedAnswer", "NotYet", "Options",
    "Problem", "Refused",
    "Repair", "RepairStep", "Report", "Unavailable", "UnknownVerdict", "Unreachable", "Verdict", "check", "request",
]
