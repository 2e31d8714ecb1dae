"""Vanna (2.x): whatever its agent wants to run is judged against the user's question first, and run only if it holds.

    question = Question()
    tools.register_local_tool(RunSqlTool(JudgedRunner(SqliteRunner("shop.sqlite"), judge, "shop", question)),
    access_groups=[]) Agent(..., lifecycle_hooks=[question])

What is not validated comes back to the agent's model as the tool's error, with the reasons, so that it can write
another query."""

from contextvars import ContextVar
from typing import Any, Optional

from vanna.capabilities.sql_runner import RunSqlToolArgs, SqlRunner
from vanna.core.lifecycle import LifecycleHook

from assay import AsyncJudge, Verdict, request


class Question(LifecycleHook):
    """Remembers what this conversation's user asks."""

    def __init__(self) -> None:
        self.text: ContextVar[str] = ContextVar("question", default="")

    async def before_message(self, user: Any, message: str) -> Optional[str]:
        self.text.set(message)
        return None


class NotValidated(Exception):
    def __init__(self, verdict: Verdict) -> None:
        why = [f"{finding.message} ({', '.join(clause.text for clause in finding.clauses)})"
               for finding in verdict.candidates[0].findings]
        super().__init__(f"not run, it may be wrong: {'; '.join(why) or verdict.message}")
        self.verdict = verdict


class JudgedRunner(SqlRunner):
    def __init__(self, runner: SqlRunner, judge: AsyncJudge, db: str, question: Question) -> None:
        self.runner, self.judge, self.db, self.question = runner, judge, db, question

    async def run_sql(self, args: RunSqlToolArgs, context: Any) -> Any:
        verdict = await self.judge.judge(request(self.question.text.get(), self.db, [args.sql]))
        if not verdict.validated:
            raise NotValidated(verdict)
        return await self.runner.run_sql(args, context)
