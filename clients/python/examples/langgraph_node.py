"""A LangGraph that answers only with SQL that was validated: it generates, judges, and either answers, asks its user,
or generates again.

Asking is an interrupt: the graph is resumed with the id of the choice, `graph.invoke(Command(resume=ID), config)`,
after a day if need be."""

from typing import Any, Callable, Dict, List, Optional, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from assay import Judge, Verdict, request

ROUNDS = 3


class State(TypedDict, total=False):
    question: str
    feedback: str  # what was wrong with the candidates before
    rounds: int
    candidates: List[str]
    verdict: Dict[str, Any]  # as JSON, so that any checkpointer keeps it
    sql: Optional[str]


def build(judge: Judge, db: str, generate: Callable[[str, str], List[str]]) -> Any:
    """`generate(question, feedback)` gives candidates: a chain of yours."""

    def generate_sql(state: State) -> State:
        return {"candidates": generate(state["question"], state.get("feedback", "")),
                "rounds": state.get("rounds", 0) + 1}

    def judge_sql(state: State) -> State:
        verdict = judge.judge(request(state["question"], db, state["candidates"], policy="ask"))
        feedback = "\n".join(f"{candidate.sql}: {candidate.why}" for candidate in verdict.candidates if candidate.why)
        return {"verdict": dict(verdict.raw), "feedback": feedback, "sql": verdict.sql if verdict.validated else None}

    def ask_user(state: State) -> State:
        asked = Verdict.of(state["verdict"]).clarification
        choice = interrupt({"question": asked.question, "choices": {one.id: one.text for one in asked.choices}})
        answered = judge.judge(asked.answered(choice))
        return {"verdict": dict(answered.raw), "sql": answered.sql if answered.validated else None}

    def next_step(state: State) -> str:
        if state.get("sql"):
            return END
        if Verdict.of(state["verdict"]).clarification:
            return "ask"
        return "generate" if state["rounds"] < ROUNDS else END

    graph = StateGraph(State).add_node("generate", generate_sql).add_node("judge", judge_sql).add_node("ask", ask_user)
    graph.add_edge(START, "generate").add_edge("generate", "judge")
    graph.add_conditional_edges("judge", next_step, ["ask", "generate", END]).add_edge("ask", END)
    return graph.compile(checkpointer=InMemorySaver())
