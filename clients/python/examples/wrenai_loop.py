"""The loop of an assistant like WrenAI, with judging in its middle: generate n queries, judge them, then answer, ask
the user, or try again with what was wrong. In process, so that nothing but the package is needed; with a Judge instead
of the Engine it is the same.

`complete(prompt)` is your language model; `choose(question, choices)` shows the user a question and returns the index
of a choice."""

from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence

from assay import Clarification, Engine, Verdict, request

PROMPT = """Write one SQL query for SQLite that answers the question. SQL only.
{schema}
Question: {question}
{feedback}"""


@dataclass
class Answer:
    sql: Optional[str]
    p_correct: Optional[float]
    explanation: Optional[str]  # in words, for the user
    rounds: int


def answer(
    engine: Engine, db: str, schema: str, question: str, complete: Callable[[str], str],
    choose: Callable[[str, Sequence[str]], int], *, n: int = 3,
    rounds: int = 2,
) -> Answer:
    feedback = ""
    for done in range(1, rounds + 1):
        prompt = PROMPT.format(schema=schema, question=question, feedback=feedback)
        verdict = engine.judge(request(question, db, [complete(prompt) for _ in range(n)], order="sampled",
                                       policy="ask", repair="apply"))
        if verdict.clarification:
            verdict = engine.judge(verdict.clarification.answered(asked(verdict.clarification, choose)))
        if verdict.validated:
            explanation = verdict.answer.explanation if verdict.answer else verdict.repair and verdict.repair.reason
            return Answer(verdict.sql, verdict.p_correct, explanation, done)
        feedback = "These are wrong:\n" + "\n".join(complaints(verdict))
    return Answer(None, None, None, rounds)


def asked(clarification: Clarification, choose: Callable[[str, Sequence[str]], int]) -> str:
    return clarification.choices[choose(clarification.question, [choice.text for choice in clarification.choices])].id


def complaints(verdict: Verdict) -> List[str]:
    return [f"{candidate.sql}\n  {candidate.why}" for candidate in verdict.candidates if candidate.why]
