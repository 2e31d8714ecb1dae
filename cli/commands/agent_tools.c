/* Describes the tools for a model: when to call them, their arguments, and the use of their results. */
#include "cli/commands/agent_int.h"

enum {
    MAX_SQL = 64 << 10,
    MAX_QUESTION = 16 << 10,
    MAX_NAME = 256,
    MAX_ANSWER = 128,
    MAX_JUDGED = 64,
    MAX_ANSWERS = 8
};

#define DATABASE                                                                                                       \
    {                                                                                                                  \
        "db", MCP_TEXT, true, 0, MAX_NAME, NULL, "Name of the database, as returned by list_databases."                \
    }
#define QUESTION                                                                                                       \
    {                                                                                                                  \
        "question", MCP_TEXT, true, 0, MAX_QUESTION, NULL,                                                             \
            "The user's question in the user's own words. Do not rewrite it to fit the SQL: the judgement compares "   \
            "the two."                                                                                                 \
    }
#define EVIDENCE                                                                                                       \
    {                                                                                                                  \
        "evidence", MCP_TEXT, false, 0, MAX_QUESTION, NULL,                                                            \
            "Additional information about the words of the question: definitions, units, how values are coded."        \
    }

static const struct mcp_parameter judge_parameters[] = {
    DATABASE,
    QUESTION,
    {"candidates", MCP_TEXTS, true, MAX_JUDGED, MAX_SQL, NULL,
     "SELECT statements that may answer the question. Several are better than one: two to five that differ where you "
     "are "
     "unsure (join, filter value, counting rows or distinct things, ties, NULLs). Best guess first."},
    EVIDENCE,
    {"policy", MCP_CHOICE, false, 0, 0, "best_effort|abstain|ask",
     "What to return if no candidate validates. best_effort: the most likely candidate, marked as doubtful. abstain: "
     "no SQL. ask: a question for the user if the question itself is ambiguous."},
    {"answers", MCP_TEXTS, false, MAX_ANSWERS, MAX_ANSWER, NULL,
     "The user's choices after status ask, each as \"QUESTION=CHOICE\" with the ids of the clarification. Repeat all "
     "other arguments unchanged."},
    {NULL}};

static const struct mcp_parameter repair_parameters[] = {
    DATABASE,
    QUESTION,
    {"sql", MCP_TEXT, true, 0, MAX_SQL, NULL, "The SELECT statement that may be wrong."},
    EVIDENCE,
    {NULL}};

static const struct mcp_parameter explain_parameters[] = {
    DATABASE, {"sql", MCP_TEXT, true, 0, MAX_SQL, NULL, "One SELECT statement."}, {NULL}};

static const struct mcp_parameter schema_parameters[] = {
    DATABASE,
    {"table", MCP_TEXT, false, 0, MAX_NAME, NULL,
     "Name of one table, to get its columns. If missing: the whole schema of a small database, only the table names of "
     "a large one."},
    {NULL}};

static const struct mcp_parameter no_parameters[] = {{NULL}};

static const struct mcp_field verdict_fields[] = {
    {"status", "string", false, "validated, repaired, best_effort, abstained or ask"},
    {"trusted", "boolean", false,
     "true if `sql` may be run and its result presented as the answer: only for validated and repaired"},
    {"sql", "string", true, "SQL of the answer; null: none"},
    {"chosen", "integer", true, "index of its candidate, from 0; null: it is none of the candidates"},
    {"p_correct", "number", true, "calibrated probability that `sql` answers the question"},
    {"threshold", "number", true, "minimum P(correct) to validate"},
    {"message", "string", true, "reason why it did not validate"},
    {"cause", "string", true, "root cause"},
    {"explanation", "string", true, "what the most likely candidate does and where its result comes from"},
    {"findings", "array", false,
     "suspected problems in it: signal, severity, message, clauses with their positions, data"},
    {"candidates", "array", false,
     "one entry per candidate of the call, in order: p_correct, number of result rows, why it was not chosen"},
    {"repair", "object", true, "the repair: old_sql, sql, steps, reason, and whether it was applied"},
    {"clarification", "object", true, "what to ask the user: id, question, choices with id and text"},
    {"questions", "array", true, "open questions for the user, without choices"},
    {"next", "string", false, "what to do next"},
    {"verdict_uri", "string", false, "URI of the resource with the full verdict"},
    {NULL}};

static const struct mcp_field explain_fields[] = {
    {"explanation", "string", false, "what the statement asks for and where its result comes from"},
    {"rows", "integer", true, "number of rows of its result"},
    {"error", "string", true, "error if the execution failed"},
    {"missing", "string", true, "parts that are not explained"},
    {"why_not", "object", true,
     "for an empty result: the conditions that exclude all rows, with the nearest stored values"},
    {NULL}};

static const struct mcp_field schema_fields[] = {
    {"db", "string", false, "name of the database"},
    {"complete", "boolean", false, "false: request columns and joins table by table"},
    {"tables", "array", false, "tables with name, number of rows, and columns with name, type, key and samples"},
    {"joins", "array", false, "column pairs that join tables"},
    {"left_out", "object", false, "number of tables and joins left out"},
    {NULL}};

static const struct mcp_field databases_fields[] = {{"databases", "array", false, "names of the databases"}, {NULL}};

const struct mcp_tool agent_tools[] = {
    {"judge_sql", "Judge SQL before it is trusted",
     "Call this before you run SQL that you wrote, or show its result as an answer. It checks the SQL against the "
     "database and returns a calibrated probability that a query answers the question, and which clauses are suspect "
     "and why. Pass the question as the user put it and several candidates. The status tells you what to do:\n- "
     "validated: run `sql`, and answer with its result.\n- repaired: the same; `sql` is an edited candidate, and "
     "`repair` describes the change.\n- best_effort: no candidate validated. Read `findings`, write better candidates "
     "and judge again; if none validates, show the result only together with the doubt.\n- abstained: show no result. "
     "Read `findings` and `message`, write other candidates, or tell the user.\n- ask: put `clarification` or "
     "`questions` to the user, then judge again with `answers`.\nAn error describes what to correct in the call. This "
     "tool writes nothing and returns no rows.",
     judge_parameters, verdict_fields, agent_judge_sql, agent_tell_verdict},
    {"repair_sql", "Repair SQL that may be wrong",
     "Call this when judge_sql marks clauses of a query that is nearly right and you have no better one. It judges the "
     "query and up to 40 similar ones (another stored value, column, join, aggregate, comparison, order, DISTINCT) and "
     "returns one only if it is clearly more likely to answer the question. Status repaired: run `sql`; validated: the "
     "query is valid unchanged; best_effort: no similar query is good enough, so write other candidates and call "
     "judge_sql.",
     repair_parameters, verdict_fields, agent_repair_sql, agent_tell_verdict},
    {"explain_sql", "Explain SQL in words",
     "Explains in plain words what one SELECT statement asks for and where its result comes from, checked against the "
     "data: what is joined, filtered and grouped, and the origin of one result row. If the result is empty, it names "
     "the condition that excludes all rows and the nearest stored values. Call it to read SQL you did not write, to "
     "explain an answer to the user, or to see why a result is empty. It does not judge whether the SQL is correct: "
     "use judge_sql for that.",
     explain_parameters, explain_fields, agent_explain_sql, NULL},
    {"describe_schema", "Describe a database",
     "Returns tables, columns, types, keys, references between tables, and frequent stored values where they may be "
     "shown. Call it before you write SQL for an unfamiliar database. For a large database it returns only table "
     "names: then call it again with each `table` you need.",
     schema_parameters, schema_fields, agent_describe_schema, NULL},
    {"list_databases", "List databases", "Returns the names of the databases that the other tools accept as `db`.",
     no_parameters, databases_fields, agent_list_databases, NULL},
    {NULL}};
