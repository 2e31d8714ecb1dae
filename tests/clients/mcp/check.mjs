// The official TypeScript SDKs as clients of `assay mcp` and of POST /mcp: version 1, which uses the protocol with a
// handshake, and version 2, which uses it without. Both check every structured result against its tool's output schema.
import assert from 'node:assert/strict';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { ASSAY_TEST_PROGRAM: program, ASSAY_TEST_DATABASES: databases, ASSAY_TEST_URL: url, ASSAY_MODELS } = process.env;
const start = { command: program, args: ['mcp', '--db-root', databases], env: { ASSAY_MODELS } };
const me = { name: 'check', version: '1' };
const right = 'SELECT count(*) FROM host';
const judged = { db: 'podcasts', question: 'How many hosts are there?',
  candidates: ['SELECT count(*) FROM show', right] };

const clients = [
  ['sdk 1, stdio', '2025-11-25', () => new ClientV1(me), () => new StdioV1(start)],
  ['sdk 1, http', '2025-11-25', () => new ClientV1(me), () => new HttpV1(new URL(url))],
  ['sdk 2, stdio', '2026-07-28', () => new v2.Client(me, { versionNegotiation: { mode: 'auto' } }),
    () => new StdioV2(start)],
  ['sdk 2, http', '2026-07-28', () => new v2.Client(me, { versionNegotiation: { mode: 'auto' } }),
    () => new v2.StreamableHTTPClientTransport(new URL(url))],
];

async function text(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  return [result, result.content[0].text];
}

const tests = {
  async introduces_itself(client, version) {
    assert.equal(client.getServerVersion().name, 'assay');
    assert.match(client.getInstructions(), /judge_sql/);
    if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), version);
  },

  async lists_tools(client) {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(),
      ['describe_schema', 'explain_sql', 'judge_sql', 'list_databases', 'repair_sql']);
    for (const tool of tools) assert.equal(tool.annotations.readOnlyHint, true);
  },

  async judges(client) {
    await client.listTools(); // gets the schemas with which results are compared
    const [result, told] = await text(client, 'judge_sql', judged);
    assert.equal(result.structuredContent.status, 'validated');
    assert.equal(result.structuredContent.sql, right);
    assert.match(told, /^VALIDATED: candidate 2 of 2/);
    const read = await client.readResource({ uri: result.structuredContent.verdict_uri });
    assert.equal(JSON.parse(read.contents[0].text).sql, right);
  },

  async repairs_explains_describes(client) {
    await client.listTools();
    const [repaired] = await text(client, 'repair_sql',
      { db: 'podcasts', question: 'How many hosts live in Leeds?',
        sql: "SELECT count(*) FROM host WHERE city = 'leeds'" });
    assert.equal(repaired.structuredContent.status, 'repaired');
    const [story] = await text(client, 'explain_sql', { db: 'podcasts', sql: right });
    assert.equal(story.structuredContent.rows, 1);
    const [schema] = await text(client, 'describe_schema', { db: 'podcasts', table: 'host' });
    assert.equal(schema.structuredContent.tables[0].name, 'host');
    const [names] = await text(client, 'list_databases', {});
    assert.deepEqual(names.structuredContent.databases, ['ferries', 'orchard', 'podcasts']);
  },

  async refuses(client) {
    const [result, told] = await text(client, 'judge_sql', { db: 'podcasts' });
    assert.equal(result.isError, true);
    assert.match(told, /`question` is missing/);
    await assert.rejects(client.readResource({ uri: 'assay://verdicts/none' }));
  },

  async pings_or_lists_resources(client, version) {
    if (version < '2026') await client.ping();
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates.length, 2);
  },
};

let tested = 0, passing = 0;
for (const [name, version, make, connect] of clients) {
  for (const [test, run] of Object.entries(tests)) {
    const client = make();
    tested++;
    try {
      await client.connect(connect());
      await run(client, version);
      passing++;
    } catch (error) {
      console.log(`[FAIL] node: ${name}: ${test}\n${error.stack}`);
    } finally {
      await client.close();
    }
  }
}
console.log(`Synthesis: Tested: ${tested} | Passing: ${passing}`);
process.exit(tested === passing ? 0 : 1);
