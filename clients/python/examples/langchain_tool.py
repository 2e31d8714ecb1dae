"""A LangChain tool: the model hands in its candidates, and gets back the query that holds, what is wrong with them, or
what to ask.

The verdict itself is the tool message's artifact, for the program."""

from typing import List, Tuple

from langchain_core.tools import BaseTool, tool

from assay import Judge, Verdict, request


def judged_sql(judge: Judge, db: str) -> BaseTool:
    @tool(response_format="content_and_artifact")
    def judge_sql(question: str, candidates: List[str]) -> Tuple[str, Verdict]:
        """Judges SQL queries that should answer the question. Give several different ones; run only what this returns
        as validated."""
        verdict = judge.judge(request(question, db, candidates, policy="ask"))
        return say(verdict), verdict

    return judge_sql


def say(verdict: Verdict) -> str:
    """For the model: what it may do next."""
    if verdict.validated:
        return f"Validated, P(correct) {verdict.p_correct:.2f}:\n{verdict.sql}"
    if verdict.clarification:
        choices = "\n".join(f"- {choice.text}" for choice in verdict.clarification.choices)
        return f"Not clear. Ask the user: {verdict.clarification.question}\n{choices}"
    wrong = [f"candidate {i + 1}: {candidate.why}" for i, candidate in enumerate(verdict.candidates) if candidate.why]
    return "Nothing validated. Write other queries.\n" + "\n".join([*filter(None, [verdict.message]), *wrong])
