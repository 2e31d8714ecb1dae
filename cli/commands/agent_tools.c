/* The tools as a model reads them: when to call, what to pass, what to do with what comes back. */
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
        "db", MCP_TEXT, true, 0, MAX_NAME, NULL, "Name of the database, as list_databases has it."                     \
    }
#define QUESTION                                                                                                       \
    {                                                                                                                  \
        "question", MCP_TEXT, true, 0, MAX_QUESTION, NULL,                                                             \
            "What the user asked, in the user's own words. Do not rewrite it to fit the SQL: the judgement compares "  \
            "the two."                                                                                                 \
    }
#define EVIDENCE                                                                                                       \
    {                                                                                                                  \
        "evidence", MCP_TEXT, false, 0, MAX_QUESTION, NULL,                                                            \
            "What else is known of the question's words: definitions, units, how values are coded."                    \
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
     "What to return when nothing validates. best_effort: the likeliest candidate, marked as doubtful. abstain: no "
     "SQL. "
     "ask: a question for the user, where the question itself can be read in several ways."},
    {"answers", MCP_TEXTS, false, MAX_ANSWERS, MAX_ANSWER, NULL,
     "What the user chose after status ask: each \"QUESTION=CHOICE\" with the ids of the clarification, with all other "
     "arguments as they were."},
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
     "One table, with its columns. Without it: all of a small database, the names of the tables of a large one."},
    {NULL}};

static const struct mcp_parameter no_parameters[] = {{NULL}};

static const struct mcp_field verdict_fields[] = {
    {"status", "string", false, "validated, repaired, best_effort, abstained or ask"},
    {"trusted", "boolean", false,
     "may `sql` be run and its result be told as the answer? True of validated and repaired only"},
    {"sql", "string", true, "the answer; null: none"},
    {"chosen", "integer", true, "index of its candidate, from 0; null: it is none of them"},
    {"p_correct", "number", true, "calibrated probability that `sql` answers the question"},
    {"threshold", "number", true, "what it has to reach to validate"},
    {"message", "string", true, "what it lacks"},
    {"cause", "string", true, "what stands behind it"},
    {"explanation", "string", true, "what the likeliest candidate does and where its result comes from"},
    {"findings", "array", false, "what is suspect in it: signal, severity, message, clauses with their places, data"},
    {"candidates", "array", false, "in the order of the call: p_correct, rows of the result, why it was not chosen"},
    {"repair", "object", true, "the change: old_sql, sql, steps, reason; whether it was applied"},
    {"clarification", "object", true, "what to ask the user: id, question, choices with id and text"},
    {"questions", "array", true, "questions for the user that have no choices"},
    {"next", "string", false, "what to do now"},
    {"verdict_uri", "string", false, "resource with the verdict in full"},
    {NULL}};

static const struct mcp_field explain_fields[] = {
    {"explanation", "string", false, "what the statement asks for and where its result comes from"},
    {"rows", "integer", true, "of its result"},
    {"error", "string", true, "why it did not run to its end"},
    {"missing", "string", true, "what is not explained"},
    {"why_not", "object", true, "of an empty result: the conditions that empty it, with the nearest stored values"},
    {NULL}};

static const struct mcp_field schema_fields[] = {
    {"db", "string", false, "the database"},
    {"complete", "boolean", false, "false: ask for columns and joins table by table"},
    {"tables", "array", false, "name, rows, columns with name, type, key and samples"},
    {"joins", "array", false, "which columns refer to which"},
    {"left_out", "object", false, "how many tables and joins are not here"},
    {NULL}};

static const struct mcp_field databases_fields[] = {{"databases", "array", false, "their names"}, {NULL}};

const struct mcp_tool agent_tools[] = {
    {"judge_sql", "Judge SQL before it is trusted",
     "Call this before you run SQL that you wrote, or show its result as an answer: it says whether a query answers "
     "the "
     "question, with a calibrated probability, which clauses are suspect and why, from the database itself. Pass the "
     "question as the user put it and several candidates. The status says what to do:\n"
     "- validated: run `sql`, and answer with its result.\n"
     "- repaired: the same; `sql` is none of your candidates but one edit away, and `repair` says what was changed.\n"
     "- best_effort: nothing holds. Read `findings`, write better candidates and judge again; if it stays so, show the "
     "result only with the doubt.\n"
     "- abstained: show no result. Read `findings` and `message`, write other candidates, or tell the user.\n"
     "- ask: put `clarification` or `questions` to the user, then judge again with `answers`.\n"
     "An error says what to mend in the call. Nothing is written, and no rows are returned.",
     judge_parameters, verdict_fields, agent_judge_sql, agent_tell_verdict},
    {"repair_sql", "Repair SQL that may be wrong",
     "Call this when judge_sql marks clauses of a query that is nearly right and you see no better one yourself. It "
     "judges the query and up to 40 near it (another value as stored, column, join, aggregate, comparison, order, "
     "DISTINCT) "
     "and returns one only where it is clearly surer to answer the question. Status repaired: run `sql`; validated: "
     "the query holds as it was; best_effort: nothing near it is good enough, so write other candidates and call "
     "judge_sql.",
     repair_parameters, verdict_fields, agent_repair_sql, agent_tell_verdict},
    {"explain_sql", "Explain SQL in words",
     "Says in plain words what one SELECT statement asks for and where its result comes from, checked against the "
     "data: "
     "what is joined, kept, grouped, the story of one result row, or, where no row comes back, which condition empties "
     "it "
     "and the nearest stored values. Call it to read SQL you did not write, to explain an answer to the user, or to "
     "see "
     "why a result is empty. It does not say whether the SQL is right: judge_sql does.",
     explain_parameters, explain_fields, agent_explain_sql, NULL},
    {"describe_schema", "Describe a database",
     "Tables, columns, types, keys, what refers to what, and frequent values as they are stored where these may be "
     "shown. "
     "Call it before you write SQL for a database you do not know. A large one is listed by table names only: then "
     "call it again with each `table` you need.",
     schema_parameters, schema_fields, agent_describe_schema, NULL},
    {"list_databases", "List databases", "Names of the databases that the other tools take as `db`.", no_parameters,
     databases_fields, agent_list_databases, NULL},
    {NULL}};
