"""Tests clients/python/examples with their frameworks and a real server. The language models are scripted: they return
the test's answers in order and record the prompts."""
import asyncio
import ast
from typing import Any, List

import pytest
from served import HIRED, HIRED_SQL, HOSTS, HOSTS_SQL, ROOT

from assay import AsyncJudge, Engine

WRONG, RIGHT = HOSTS_SQL
EXAMPLES = sorted((ROOT / "clients/python/examples").glob("*.py"))


class ScriptedModel:
    """A scripted model in place of a language model."""

    def __init__(self, *answers):
        self.answers, self.told = list(answers), []

    def __call__(self, prompt):
        self.told.append(prompt)
        return self.answers.pop(0)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_short_and_say_what_they_are(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 60 and ast.get_docstring(ast.parse(text))


def test_five_examples_exist():
    assert [path.stem for path in EXAMPLES] == ["langchain_tool", "langgraph_node", "llama_index_engine", "vanna_run",
                                                "wrenai_loop"]


# --- LangChain ---

def call(tool, question, candidates):
    return tool.invoke({"type": "tool_call", "id": "1", "name": tool.name,
                        "args": {"question": question, "candidates": candidates}})


def test_langchain(judge):
    from langchain_tool import judged_sql
    tool = judged_sql(judge, "podcasts")
    message = call(tool, HOSTS, HOSTS_SQL)
    assert (message.content.startswith("Validated, P(correct) 0.") and message.content.endswith(RIGHT)
            and message.artifact.chosen == 1)
    message = call(tool, HOSTS, [WRONG])
    assert message.content.startswith("Nothing validated") and "do not refer to each other" in message.content
    message = call(judged_sql(judge, "shops"), HIRED, HIRED_SQL)
    assert message.content.splitlines()[:2] == ["Not clear. Ask the user: Do you also want shops that have no hiring?",
                                                "- no, only the others"]
    assert set(tool.args) == {"question", "candidates"} and "several different" in tool.description


def test_langchain_agent_calls_tool(judge):
    """A scripted chat model of LangChain calls the tool and receives the tool's message."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_tool import judged_sql
    tool = judged_sql(judge, "podcasts")
    model = GenericFakeChatModel(messages=iter([
        AIMessage("", tool_calls=[{"name": tool.name, "id": "7",
                                   "args": {"question": HOSTS, "candidates": HOSTS_SQL}}])]))
    (wanted,) = model.invoke(HOSTS).tool_calls
    message = tool.invoke(wanted)
    assert message.tool_call_id == "7" and RIGHT in message.content


# --- LangGraph ---

def test_langgraph_retries_with_findings(judge):
    from langgraph_node import build
    model = ScriptedModel([WRONG], [RIGHT])
    graph = build(judge, "podcasts", lambda question, feedback: model(feedback))
    state = graph.invoke({"question": HOSTS}, {"configurable": {"thread_id": "1"}})
    assert (state["sql"], state["rounds"]) == (RIGHT, 2)
    assert model.told[0] == "" and WRONG in model.told[1] and "do not refer to each other" in model.told[1]


def test_langgraph_gives_up(judge):
    from langgraph_node import ROUNDS, build
    model = ScriptedModel(*ROUNDS * [[WRONG]])
    state = build(judge, "podcasts",
                  lambda question, feedback: model(feedback)).invoke({"question": HOSTS},
                                                                     {"configurable": {"thread_id": "1"}})
    assert state["sql"] is None and not model.answers


def test_langgraph_asks_and_is_resumed(judge):
    from langgraph.types import Command
    from langgraph_node import build
    graph, config = build(judge, "shops", lambda question, feedback: HIRED_SQL), {"configurable": {"thread_id": "1"}}
    (asked,) = graph.invoke({"question": HIRED}, config)["__interrupt__"]
    assert asked.value["question"] == "Do you also want shops that have no hiring?"
    yes = next(id for id, text in asked.value["choices"].items() if text.startswith("yes"))
    assert graph.invoke(Command(resume=yes), config)["sql"] == HIRED_SQL[1]


# --- LlamaIndex ---

def llama_index_engine(judge, databases, name, *answers):
    from llama_index.core import MockEmbedding, SQLDatabase
    from llama_index.core.indices.struct_store.sql_query import NLSQLTableQueryEngine
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index_engine import JudgedQueryEngine
    from sqlalchemy import create_engine
    said: List[str] = list(answers)

    class Scripted(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="scripted")

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            assert "CREATE TABLE" in prompt or "Table '" in prompt
            return CompletionResponse(text=said.pop(0))

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any):
            raise NotImplementedError

    database = SQLDatabase(create_engine(f"sqlite:///{databases}/{name}/{name}.sqlite"))
    writer = NLSQLTableQueryEngine(database, llm=Scripted(), sql_only=True, synthesize_response=False,
                                   embed_model=MockEmbedding(1))
    return JudgedQueryEngine(writer=writer, sql_database=database, judge=judge, db=name, samples=len(answers))


def test_llama_index(judge, databases):
    response = llama_index_engine(judge, databases, "podcasts", WRONG, RIGHT, "SELECT nothing").query(HOSTS)
    assert (response.metadata["sql_query"] == RIGHT and len(response.metadata["result"]) == 11
            and "Mara Quill" in response.response)
    response = llama_index_engine(judge, databases, "podcasts", WRONG, WRONG).query(HOSTS)
    assert response.response == "I am not sure enough to answer that." and "result" not in response.metadata
    assert llama_index_engine(judge, databases, "shops",
                              *HIRED_SQL).query(HIRED).response == "Do you also want shops that have no hiring?"


# --- Vanna ---

def vanna_agent(url, databases, seen, *queries):
    from vanna import Agent, ToolRegistry, User
    from vanna.core.llm import LlmResponse, LlmService, LlmStreamChunk
    from vanna.core.tool import ToolCall
    from vanna.core.user import UserResolver
    from vanna.integrations.local.agent_memory import DemoAgentMemory
    from vanna.integrations.sqlite import SqliteRunner
    from vanna.tools import RunSqlTool
    from vanna_run import JudgedRunner, Question
    rest = list(queries)

    class Scripted(LlmService):
        """Proposes one query after another until none is left."""

        async def send_request(self, request):
            last = request.messages[-1]
            if last.role == "tool": seen.append(last.content)
            if not rest: return LlmResponse(content="done", finish_reason="stop")
            return LlmResponse(tool_calls=[ToolCall(id=f"c{len(rest)}", name="run_sql",
                                                    arguments={"sql": rest.pop(0)})], finish_reason="tool_calls")

        async def stream_request(self, request):
            response = await self.send_request(request)
            yield LlmStreamChunk(content=response.content, tool_calls=response.tool_calls,
                                 finish_reason=response.finish_reason)

        async def validate_tools(self, tools):
            return []

    class Anyone(UserResolver):
        async def resolve_user(self, request_context):
            return User(id="1", username="anyone", email="anyone@example.com", group_memberships=[])

    judge, question, tools = AsyncJudge(url), Question(), ToolRegistry()
    runner = JudgedRunner(SqliteRunner(f"{databases}/podcasts/podcasts.sqlite"), judge, "podcasts", question)
    tools.register_local_tool(RunSqlTool(runner), access_groups=[])
    return judge, Agent(llm_service=Scripted(), tool_registry=tools, user_resolver=Anyone(),
                        agent_memory=DemoAgentMemory(), lifecycle_hooks=[question])


def test_vanna(server, databases, tmp_path, monkeypatch):
    from vanna.core.user import RequestContext
    monkeypatch.chdir(tmp_path)  # its tool writes results as files
    seen = []

    async def converse():
        judge, agent = vanna_agent(server.url, databases, seen, WRONG, RIGHT)
        async with judge:
            async for _ in agent.send_message(RequestContext(), HOSTS): pass
    asyncio.run(converse())
    assert len(seen) == 2
    assert "not run, it may be wrong" in seen[0] and "h.host_id = s.show_id" in seen[0] and "Mara Quill" not in seen[0]
    assert "Mara Quill" in seen[1]


# --- a loop like WrenAI's ---

@pytest.fixture(scope="module")
def engine(databases):
    with Engine(database_root=databases, threads=2) as engine:
        yield engine


def test_loop_answers_in_words(engine):
    from wrenai_loop import answer
    said = answer(engine, "podcasts", "show(...)", HOSTS, ScriptedModel(WRONG, RIGHT, RIGHT), None)
    assert ((said.sql, said.rounds) == (RIGHT, 1)
            and said.explanation.startswith("The query returns the name of the host"))


def test_loop_retries_with_findings(engine):
    from wrenai_loop import answer
    model = ScriptedModel("SELECT nam FROM host", "SELECT name FROM hosts", "SELECT 1 FROM nowhere", RIGHT, RIGHT,
                          RIGHT)
    said = answer(engine, "podcasts", "show(...)", HOSTS, model, None)
    assert ((said.sql, said.rounds) == (RIGHT, 2) and "no such column: nam" in model.told[-1]
            and "no such" not in model.told[0])


def test_loop_asks_for_clarification(engine):
    from wrenai_loop import answer
    asked = []

    def choose(question, choices):
        asked.append(question)
        return next(i for i, text in enumerate(choices) if text.startswith("yes"))
    assert answer(engine, "shops", "shop(...)", HIRED, ScriptedModel(*HIRED_SQL), choose, n=2).sql == HIRED_SQL[1]
    assert asked == ["Do you also want shops that have no hiring?"]


def test_loop_gives_up(engine):
    from wrenai_loop import answer
    assert answer(engine, "podcasts", "show(...)", HOSTS, ScriptedModel(*4 * ["SELECT nam FROM host"]), None,
                  n=2).sql is None
