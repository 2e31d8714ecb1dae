"""Verdicts, and the report of `assay eval --format json`, as frames. Needs pandas: pip install assay-sql[pandas]."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Union

import pandas

from ._json import decode
from .errors import MalformedAnswer
from .verdict import Verdict

Source = Union[str, "os.PathLike[str]", Iterable[Union[Verdict, str, bytes, Mapping[str, Any]]]]


class Verdicts(NamedTuple):
    """`verdicts`: a row a verdict; `candidates`: a row a candidate, with the `row` of its verdict there and its `index`
    in the request, and a column a signal: "fired", "silent", "unavailable", or nothing where it did not look."""

    verdicts: pandas.DataFrame
    candidates: pandas.DataFrame


class Evaluation(NamedTuple):
    """Of one report, a row each: a way to choose and all questions or those of one level (`selection`), Assay against
    such a way (`contrasts`), a measure (`detection`), a bin (`calibration`), a signal (`signals`). Shares are
    percentages, as in the report."""

    selection: pandas.DataFrame
    contrasts: pandas.DataFrame
    detection: pandas.DataFrame
    calibration: pandas.DataFrame
    signals: pandas.DataFrame


VERDICT_COLUMNS = [
    "id", "db", "status", "validated", "chosen", "sql", "p_correct", "threshold", "reason", "message", "cause",
    "iterations", "total_ms",
]
CANDIDATE_COLUMNS = [
    "row", "id", "index", "chosen", "sql", "p_correct", "label_model_p", "entailment", "fired", "findings", "rows",
    "columns", "ms", "error",
    "same_as", "why",
]
CHOICES = ("first", "first_executable", "majority", "assay", "oracle")


def verdicts(source: Source) -> Verdicts:
    """Of a file of JSON lines, or of verdicts, lines or objects. MalformedAnswer: one is no verdict, and which."""
    rows: List[Dict[str, Any]] = []
    candidates: List[Dict[str, Any]] = []
    for row, verdict in enumerate(_read(source)):
        rows.append(_verdict_row(verdict))
        candidates += _candidate_rows(row, verdict)
    return Verdicts(_frame(rows, VERDICT_COLUMNS, ["chosen", "iterations"]),
                    _frame(candidates, CANDIDATE_COLUMNS, ["rows", "columns", "same_as"]))


def evaluation(report: Union[str, os.PathLike[str], Mapping[str, Any]]) -> Evaluation:
    """Of the report, or of the file that it is in."""
    raw = report if isinstance(report, Mapping) else decode(Path(report).read_bytes())
    selections = [("all", raw["questions"], raw["selection"])]
    selections += [(level["level"], level["questions"], level) for level in raw.get("difficulty") or ()]
    measures = raw.get("detection") or {}
    intervals = measures.get("intervals") or {}
    return Evaluation(
        pandas.DataFrame([_selection_row(*one, choice) for one in selections for choice in CHOICES
                          if choice in one[2]]),
        pandas.DataFrame([_spread(one) for one in raw["selection"].get("contrasts") or ()]),
        pandas.DataFrame([{"measure": name, "value": value, **_bounds(intervals.get(name))}
                          for name, value in _flat(measures).items()]),
        pandas.DataFrame([{"of": of, **_spread(one)} for of, said in (raw.get("calibration") or {}).items()
                          for one in said["bins"]]),
        pandas.DataFrame([_flat(one) for one in raw.get("signals") or ()]),
    )


def _read(source: Source) -> Iterator[Verdict]:
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as lines:
            yield from _read(line for line in lines if line.strip())
        return
    for number, one in enumerate(source, 1):
        try:
            yield (one if isinstance(one, Verdict) else Verdict.parse(one) if isinstance(one, (str, bytes))
                   else Verdict.of(one))
        except MalformedAnswer as error:
            raise MalformedAnswer(f"verdict {number}: {error.message}") from error


def _verdict_row(verdict: Verdict) -> Dict[str, Any]:
    row = {name: getattr(verdict, name) for name in VERDICT_COLUMNS if name != "total_ms"}
    return {**row, "total_ms": verdict.timings.get("total_ms")}


def _candidate_rows(row: int, verdict: Verdict) -> Iterator[Dict[str, Any]]:
    for index, candidate in enumerate(verdict.candidates):
        run = candidate.execution
        yield {
            "row": row, "id": verdict.id, "index": index, "chosen": index == verdict.chosen, "sql": candidate.sql,
            "p_correct": candidate.p_correct,
            "label_model_p": candidate.label_model_p, "entailment": candidate.entailment, "fired": len(candidate.fired),
            "findings": len(candidate.findings), "rows": run and run.rows, "columns": run and run.columns,
            "ms": run and run.ms,
            "error": run and run.error, "same_as": candidate.same_as, "why": candidate.why, **candidate.signals,
        }


def _frame(rows: List[Dict[str, Any]], columns: List[str], whole: List[str]) -> pandas.DataFrame:
    """Whole numbers stay whole where some are missing."""
    frame = pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=columns)
    return frame.astype(dict.fromkeys(whole, "Int64"))


def _bounds(interval: Optional[List[Optional[float]]]) -> Dict[str, Optional[float]]:
    low, high = interval or (None, None)
    return {"low": low, "high": high}


def _spread(row: Mapping[str, Any]) -> Dict[str, Any]:
    """With its interval as two columns."""
    return {**{key: value for key, value in row.items() if key != "interval"}, **_bounds(row.get("interval"))}


def _flat(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what has parts of its own."""
    return {key: value for key, value in row.items() if not isinstance(value, (dict, list))}


def _selection_row(level: str, questions: int, said: Mapping[str, Any], choice: str) -> Dict[str, Any]:
    intervals = said.get("intervals") or {"assay": said.get("interval")}
    return {"level": level, "questions": questions, "choice": choice, "accuracy": said[choice],
            **_bounds(intervals.get(choice))}
