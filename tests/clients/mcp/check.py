"""Uses the official Python SDK as a client of `assay mcp` and of POST /mcp, in both forms of the protocol: with and
without a handshake.

The client itself checks every structured result against the output schema of its tool.
"""
import asyncio
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../live/fleet"))
from wait import wait_until

PROGRAM, DATABASES, URL = (os.environ[f"ASSAY_TEST_{name}"] for name in ("PROGRAM", "DATABASES", "URL"))
TOOLS = {"judge_sql", "repair_sql", "explain_sql", "describe_schema", "list_databases"}
CANCELLED = {"db": "ferries", "question": "How many sailings of the vessel Petrel were cancelled?"}
RIGHT = ("SELECT count(*) FROM sailing AS s JOIN vessel AS v ON s.vessel_id = v.vessel_id "
         "WHERE v.name = 'Petrel' AND s.status = 'cancelled'")
WRONG = ("SELECT count(*) FROM sailing AS s JOIN vessel AS v ON s.sailing_id = v.vessel_id "
         "WHERE v.name = 'Petrell' AND s.status = 'cancelled'")
SHOWS = {"db": "podcasts", "question": "How many episodes does each show have?", "policy": "ask",
         "candidates": ["SELECT s.title, count(*) FROM show s JOIN episode e ON s.show_id = e.show_id GROUP BY s.title",
                        "SELECT s.title, count(e.episode_id) FROM show s LEFT JOIN episode e "
                        "ON s.show_id = e.show_id GROUP BY s.title"]}


def program(*flags):
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--db-root", DATABASES, *flags],
                                 env={"ASSAY_MODELS": os.environ["ASSAY_MODELS"]})


def text(result):
    assert [block.type for block in result.content] == ["text"], result.content
    return result.content[0].text


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return result.structured_content, text(result)


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error and result.structured_content is None, result
    return text(result)


# --- checks for every client


async def introduces_itself(client, version):
    assert client.protocol_version == version, client.protocol_version
    assert client.server_info.name == "assay"
    assert "judge_sql" in client.instructions
    assert client.server_capabilities.tools is not None and client.server_capabilities.prompts is None


async def lists_tools(client, _version):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS, set(tools)
    for tool in tools.values():
        hints = tool.annotations
        assert hints.read_only_hint and not hints.destructive_hint and not hints.open_world_hint
        assert tool.input_schema["additionalProperties"] is False and tool.output_schema["type"] == "object"
        assert all(p["description"] for p in tool.input_schema["properties"].values())
    assert tools["judge_sql"].input_schema["required"] == ["db", "question", "candidates"]
    for status in ("validated", "repaired", "best_effort", "abstained", "ask"):
        assert status in tools["judge_sql"].description, status


async def validates(client, _version):
    verdict, told = await call(client, "judge_sql", **CANCELLED,
                               candidates=[WRONG, "SELECT COUNT(*) FROM sailings", RIGHT])
    assert verdict["status"] == "validated" and verdict["trusted"] and verdict["chosen"] == 2
    assert verdict["sql"] == RIGHT and verdict["p_correct"] >= verdict["threshold"]
    assert "no such table: sailings" in verdict["candidates"][1]["why"]
    assert told.startswith("VALIDATED: candidate 3 of 3") and RIGHT in told


async def says_what_is_suspect(client, _version):
    verdict, told = await call(client, "judge_sql", **CANCELLED, candidates=[WRONG])
    assert verdict["status"] == "best_effort" and not verdict["trusted"]
    assert [f["signal"] for f in verdict["findings"]][:2] == ["incorrect_join_predicate", "empty_predicate"]
    assert told.startswith("NOT VALIDATED") and "v.name = 'Petrell'" in told and "Petrel" in told
    assert "Do not present its result as fact" in verdict["next"]


async def abstains(client, _version):
    verdict, told = await call(client, "judge_sql", **CANCELLED, candidates=[WRONG], policy="abstain")
    assert verdict["status"] == "abstained" and verdict["sql"] is None and told.startswith("ABSTAINED")


async def asks_and_takes_the_answer(client, _version):
    verdict, told = await call(client, "judge_sql", **SHOWS)
    asked = verdict["clarification"]
    assert verdict["status"] == "ask" and asked["question"] == "Do you also want shows that have no episode?"
    answer = f"{asked['id']}={asked['choices'][1]['id']}"
    assert answer in told and told.startswith("ASK THE USER")
    verdict, _told = await call(client, "judge_sql", **SHOWS, answers=[answer])
    assert verdict["status"] == "validated" and verdict["chosen"] == 1, verdict


async def repairs(client, _version):
    verdict, told = await call(client, "repair_sql", db="podcasts", question="How many hosts live in Leeds?",
                               sql="SELECT count(*) FROM host WHERE city = 'leeds'")
    assert (verdict["status"] == "repaired" and verdict["sql"].endswith("city = 'Leeds'")
            and verdict["repair"]["applied"])
    assert "'leeds' becomes 'Leeds'" in told


async def explains(client, _version):
    story, told = await call(client, "explain_sql", db="ferries", sql="SELECT name FROM vessel WHERE name = 'Petrell'")
    assert story["rows"] == 0 and story["why_not"]["culprits"][0]["nearest"] == ["Petrel"]
    assert "No row comes back because of" in told
    assert "no such column" in await refused(client, "explain_sql", db="ferries", sql="SELECT nome FROM vessel")
    assert "refused" in await refused(client, "explain_sql", db="ferries", sql="DELETE FROM vessel")


async def describes(client, _version):
    whole, told = await call(client, "describe_schema", db="ferries")
    assert whole["complete"] and {"port", "vessel", "sailing"} <= {table["name"] for table in whole["tables"]}
    assert "sailing.vessel_id refers to vessel.vessel_id" in told and "'Petrel'" in told
    one, _told = await call(client, "describe_schema", db="ferries", table="VESSEL")
    assert [table["name"] for table in one["tables"]] == ["vessel"] and one["tables"][0]["columns"][1]["samples"]
    assert all("vessel" in (join["from"]["table"], join["to"]["table"]) for join in one["joins"])
    assert "Unknown table `boat`" in await refused(client, "describe_schema", db="ferries", table="boat")
    names, _told = await call(client, "list_databases")
    assert names["databases"] == ["ferries", "orchard", "podcasts"]


async def says_what_to_mend(client, _version):
    missing = await refused(client, "judge_sql", **CANCELLED)
    assert "`candidates` is missing" in missing
    assert "has no parameter `sql`" in await refused(client, "judge_sql", **CANCELLED, candidates=[RIGHT], sql=RIGHT)
    assert "must be one of" in await refused(client, "judge_sql", **CANCELLED, candidates=[RIGHT], policy="guess")
    for tool, more in (("judge_sql", {"question": "?", "candidates": [RIGHT]}), ("describe_schema", {})):
        for name in ("nowhere", "../ferries", "/etc/passwd"):
            told = await refused(client, tool, db=name, **more)
            assert "list_databases" in told and DATABASES not in told, told
    try:
        await client.call_tool("drop_table", {})
        raise AssertionError("an unknown tool was called")
    except MCPError as error:
        assert error.code == -32602, error


async def keeps_verdicts(client, version):
    verdict, _told = await call(client, "judge_sql", **CANCELLED, candidates=[RIGHT])
    whole = json.loads((await client.read_resource(verdict["verdict_uri"])).contents[0].text)
    assert whole["schema_version"] == 2 and verdict["verdict_uri"].endswith(whole["id"])
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    assert verdict["verdict_uri"] == listed[0] and "assay://databases/ferries" in listed
    schema = json.loads((await client.read_resource("assay://databases/ferries")).contents[0].text)
    assert schema["db"] == "ferries"
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["assay://verdicts/{id}", "assay://databases/{name}"]
    for uri in ("assay://verdicts/none", "file:///etc/passwd"):
        try:
            await client.read_resource(uri)
            raise AssertionError(uri)
        except MCPError as error:
            assert error.code == (-32602 if version == "2026-07-28" else -32002), error


async def answers_many_at_once(client, _version):
    verdicts = await asyncio.gather(*(call(client, "judge_sql", **CANCELLED, candidates=[WRONG, RIGHT])
                                      for _ in range(24)))
    assert len({verdict["verdict_uri"] for verdict, _told in verdicts}) == 24
    assert {verdict["status"] for verdict, _told in verdicts} == {"validated"}


async def goes_on_after_a_cancelled_call(client, _version):
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    try:
        await client.call_tool("explain_sql", {"db": "ferries", "sql": slow}, read_timeout_seconds=0.3)
        raise AssertionError("an endless statement ended")
    except MCPError as error:
        assert "imed out" in str(error), error
    names, _told = await call(client, "list_databases")
    assert names["databases"]


SEEN = (introduces_itself, lists_tools, validates, says_what_is_suspect, abstains, asks_and_takes_the_answer, repairs,
        explains, describes, says_what_to_mend, keeps_verdicts, answers_many_at_once, goes_on_after_a_cancelled_call)


# --- checks that need their own start options, or HTTP


async def shows_no_values_where_none_may_leave():
    async with Client(program("--expose=none")) as client:
        whole, told = await call(client, "describe_schema", db="ferries")
        assert "Petrel" not in told and not any("samples" in c for t in whole["tables"] for c in t["columns"])
        verdict, told = await call(client, "judge_sql", **CANCELLED, candidates=[WRONG])
        assert "Petrel" not in (told + json.dumps(verdict)).replace("'Petrell'", "")
    async with Client(program("--deny-column=vessel.name")) as client:
        _whole, told = await call(client, "describe_schema", db="ferries")
        assert "Petrel" not in told and "'catamaran'" in told
        story, _told = await call(client, "explain_sql", db="ferries",
                                  sql="SELECT name FROM vessel WHERE name = 'Petrell'")
        assert "Petrel" not in json.dumps(story).replace("Petrell", "")


async def one_database():
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "--db", f"{DATABASES}/orchard/orchard.sqlite"],
                                   env={"ASSAY_MODELS": os.environ["ASSAY_MODELS"]})
    async with Client(server) as client:
        names, _told = await call(client, "list_databases")
        assert names["databases"] == ["orchard"]
        whole, _told = await call(client, "describe_schema", db="orchard")
        assert whole["tables"]
        assert "list_databases" in await refused(client, "describe_schema", db=f"{DATABASES}/ferries/ferries.sqlite")


def post(body, method="POST", **headers):
    request = urllib.request.Request(URL, body if method == "POST" else None, method=method, headers={
        "Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


async def http_refuses_what_it_must():
    own = URL.removesuffix("/mcp")
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert post(ping) == (200, b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert post(ping, Origin=own)[0] == 200
    for origin in ("http://evil.example", "http://localhost.evil.example", "http://localhost:3000", "null"):
        assert post(ping, Origin=origin)[0] == 403, origin
    assert post(ping, MCP_Protocol_Version="1999-01-01")[0] == 400
    assert post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == (202, b"")
    assert post(b"nonsense")[0] == 400
    assert post(ping, Content_Type="text/plain")[0] == 415
    assert post(b"", method="GET")[0] == 405 and post(b"", method="DELETE")[0] == 405
    assert post(b" " * (1 << 20) + ping)[0] == 413


async def http_holds_headers_against_the_message():
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "list_databases", "arguments": {}, "_meta": meta}}).encode()
    right = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "list_databases"}
    status, answer = post(body, **right)
    assert status == 200 and json.loads(answer)["result"]["resultType"] == "complete"
    for wrong in ({"MCP_Protocol_Version": "2025-11-25"}, {"Mcp_Method": "tools/list"}, {"Mcp_Name": "judge_sql"}):
        status, answer = post(body, **(right | wrong))
        assert status == 400 and json.loads(answer)["error"]["code"] == -32020, (wrong, answer)
    status, answer = post(body.replace(b"tools/call", b"tools/eat"), **(right | {"Mcp_Method": "tools/eat"}))
    assert status == 404 and json.loads(answer)["error"]["code"] == -32601


@contextlib.contextmanager
def served(*flags):
    """Runs `assay serve` with these flags and yields its URL."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([PROGRAM, "serve", "--db-root", DATABASES, "--http=127.0.0.1:0", "--log-form=json",
                                    *flags], stderr=log)
        try:
            def find_port():
                log.seek(0)
                return re.search(r'"port":(\d+)', log.read())
            port = wait_until(find_port, 30, "it listens")
            yield f"http://127.0.0.1:{port[1]}/mcp"
        finally:
            process.terminate()
            process.wait(30)


async def tenants_see_their_own():
    tokens = {name: f"{name}-secret" for name in ("harbour", "studio")}
    tenants = {name: {"sha256": [hashlib.sha256(token.encode()).hexdigest()],
                      "databases": ["ferries"] if name == "harbour" else ["podcasts", "orchard"]}
               for name, token in tokens.items()}
    tenants["harbour"]["deny_columns"] = ["vessel.name"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"tokens_version": 1, "tenants": tenants}, file)
        file.flush()
        with served(f"--tokens={file.name}") as url:
            clients = {name: httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
                       for name, token in tokens.items()}
            async with Client(streamable_http_client(url, http_client=clients["harbour"])) as harbour, \
                       Client(streamable_http_client(url, http_client=clients["studio"])) as studio:
                assert (await call(harbour, "list_databases"))[0]["databases"] == ["ferries"]
                assert (await call(studio, "list_databases"))[0]["databases"] == ["orchard", "podcasts"]
                for tool, more in (("describe_schema", {}), ("explain_sql", {"sql": "SELECT 1"}),
                                   ("judge_sql", {"question": "?", "candidates": ["SELECT 1"]})):
                    await refused(studio, tool, db="ferries", **more)
                _whole, told = await call(harbour, "describe_schema", db="ferries")
                assert "Petrel" not in told and "'catamaran'" in told
                verdict, _told = await call(harbour, "judge_sql", **CANCELLED, candidates=[RIGHT])
                assert (await harbour.read_resource(verdict["verdict_uri"])).contents
                try:
                    await studio.read_resource(verdict["verdict_uri"])
                    raise AssertionError("another tenant's verdict was read")
                except MCPError:
                    pass
            request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json"})
            try:
                urllib.request.urlopen(request, timeout=30)
                raise AssertionError("answered without a token")
            except urllib.error.HTTPError as error:
                assert error.code == 401, error


ALONE = (tenants_see_their_own, shows_no_values_where_none_may_leave, one_database, http_refuses_what_it_must,
         http_holds_headers_against_the_message)


# --- running the checks


async def attempt(name, test):
    try:
        await asyncio.wait_for(test, 60)
        return True
    except Exception:  # noqa: BLE001: any failure is the test's
        print(f"[FAIL] {name}")
        traceback.print_exc(file=sys.stdout)
        return False


async def with_client(test, server, mode, version):
    async with Client(server, mode=mode) as client:
        await test(client, version)


async def main():
    passed = []
    for transport, server in (("stdio", program()), ("http", URL)):
        for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
            for test in SEEN:
                name = f"python: {transport}, {version}: {test.__name__}"
                passed.append(await attempt(name, with_client(test, server, mode, version)))
    for test in ALONE:
        passed.append(await attempt(f"python: {test.__name__}", test()))
    print(f"Synthesis: Tested: {len(passed)} | Passing: {sum(passed)}")
    return 0 if all(passed) else 1


sys.exit(asyncio.run(main()))
