/* DESIGN: one table row for each key of a request or verdict, with its type, bounds and description.
 *
 * `assay docs api` and the HTTP API description are printed from these tables, so they agree. The bounds are the
 * constants of msg.h. The names of choices come from the functions that name the enums, so a new value needs no change
 * here.
 */
#include "proto/message/json_schema.h"

#include "lib/base/error.h"
#include "proto/message/msg.h"

#include <glib.h>
#include <string.h>

/* --- choices of strings --- */

/* Defines a function that returns the i-th name of an enum, from value `first` on. Value 0 may be "unset", which has no
 * name. */
#define CHOICE(function, name_of, type, first)                                                                         \
    static const char *function(unsigned i)                                                                            \
    {                                                                                                                  \
        return name_of((enum type)(i + (first)));                                                                      \
    }
CHOICE(strategy, msg_strategy_name, msg_strategy, 1)
CHOICE(policy, msg_policy_name, msg_policy, 1)
CHOICE(order, msg_order_name, msg_order, 1)
CHOICE(repair, msg_repair_name, msg_repair, 1)
CHOICE(expose, msg_expose_name, msg_expose, 1)
CHOICE(status, msg_status_name, msg_status, 0)
CHOICE(state, msg_state_name, msg_state, 0)
CHOICE(severity, msg_severity_name, msg_severity, 0)
CHOICE(promise, msg_promise_name, msg_promise, 1)
#undef CHOICE

static const char *stage(unsigned i)
{
    static const char *const stages[] = {"tables", "columns"};
    return i < G_N_ELEMENTS(stages) ? stages[i] : NULL;
}

static const char *code(unsigned i)
{
    static const char *const more[] = {"unknown_id", "unknown_path", "unauthorized"};
    if (i < ERR_COUNT - 1) return err_name((enum err_code)(i + 1));
    return i - (ERR_COUNT - 1) < G_N_ELEMENTS(more) ? more[i - (ERR_COUNT - 1)] : NULL;
}

/* --- the objects --- */

#define NAME  MSG_MAX_NAME
#define LIST  MSG_MAX_LIST
#define MANY  4294967295.0
#define SHARE .kind = JSON_SCHEMA_REAL, .max = 1
#define REAL  .kind = JSON_SCHEMA_REAL
#define WHOLE .kind = JSON_SCHEMA_WHOLE
#define END                                                                                                            \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

static const struct json_schema_field request[] = {
    {"id", .max = NAME, .nullable = true, .sentence = "identifies the request in its verdict; generated if missing"},
    {"db", .max = NAME, .required = true, .sentence = "name of the database in the catalogue"},
    {"question", .max = MSG_MAX_QUESTION, .nullable = true, .sentence = "question of the user"},
    {"evidence", .max = MSG_MAX_QUESTION, .nullable = true,
     .sentence = "additional information about the words of the question"},
    {"schema", .max = MSG_MAX_SCHEMA, .nullable = true,
     .sentence = "DDL to judge from, without reading a database; db is then only a label"},
    {"candidates", JSON_SCHEMA_CANDIDATE, .list = true, .of = "candidate", .max = MSG_MAX_CANDIDATES,
     .sentence = "queries to judge"},
    {"deadline_ms", WHOLE, .min = -1, .max = 4e12, .nullable = true,
     .sentence = "time limit in milliseconds from arrival; -1: no limit"},
    {"max_iterations", WHOLE, .max = MANY, .nullable = true,
     .sentence = "maximum number of candidates to judge; 0: all"},
    {"speculate", WHOLE, .max = MANY, .nullable = true, .sentence = "number of candidates to judge concurrently"},
    {"strategy", .choice = strategy, .nullable = true, .sentence = "how to choose the answer among the candidates"},
    {"policy", .choice = policy, .nullable = true, .sentence = "what to return if no candidate validates"},
    {"order", .choice = order, .nullable = true, .sentence = "meaning of the candidates' positions"},
    {"repair", .choice = repair, .nullable = true,
     .sentence = "what to do with a similar query that is more likely correct than the answer"},
    {"repair_margin", SHARE, .nullable = true, .sentence = "minimum increase of P(correct) for a repair"},
    {"expose", .choice = expose, .nullable = true, .sentence = "which data the verdict may show"},
    {"threshold", SHARE, .nullable = true, .sentence = "minimum P(correct) for a candidate to validate"},
    {"alpha", SHARE, .nullable = true,
     .sentence = "maximum share of wrong answers among validated ones; replaces threshold"},
    {"delta", SHARE, .nullable = true,
     .sentence = "probability that the guarantee of alpha fails; its confidence is 1 - delta"},
    {"ask_gain", SHARE, .nullable = true,
     .sentence = "with policy ask: minimum expected increase of P(correct) for asking the user a question"},
    {"families", .list = true, .max = LIST, .sentence = "families of signals to run; empty: all"},
    {"deny_columns", .list = true, .max = LIST,
     .sentence = "columns that no statement may read, as [schema.]table.column, column or table.*, quoted as in SQL"},
    {"explain", JSON_SCHEMA_EXPLAIN, .nullable = true,
     .sentence = "explain candidates in words; \"full\": also return the input of the verifier"},
    {"cache", JSON_SCHEMA_BOOL, .nullable = true, .sentence = "false: ignore cached verdicts and judge the request"},
    {"answers", JSON_SCHEMA_OBJECT, .list = true, .of = "answer", .max = MSG_MAX_ANSWERS,
     .sentence = "the user's answers to clarification questions of earlier verdicts"},
    {"linking", JSON_SCHEMA_OBJECT, .of = "linking", .nullable = true,
     .sentence = "output of a schema linker for the question"},
    {"gold", .max = MSG_MAX_SQL, .nullable = true, .sentence = "reference (correct) SQL, copied to the verdict"},
    {"meta", JSON_SCHEMA_ANY, .sentence = "any value, copied to the verdict"},
    {"traceparent", .max = NAME, .nullable = true, .sentence = "W3C trace context"},
    END};

static const struct json_schema_field candidate[] = {
    {"sql", .max = MSG_MAX_SQL, .required = true, .sentence = "SQL of the query"},
    {"count", WHOLE, .max = MANY, .nullable = true, .sentence = "number of beams or samples that produced this query"},
    {"score", REAL, .nullable = true, .sentence = "score from the system that wrote the query"},
    {"generators", .list = true, .max = LIST, .sentence = "names of the systems that wrote the query"},
    END};

static const struct json_schema_field answer[] = {
    {"question", .max = NAME, .required = true, .sentence = "id of the clarification question"},
    {"choice", .max = NAME, .required = true, .sentence = "id of the choice"},
    END};

static const struct json_schema_field chosen_answer[] = {
    {"choice", .required = true, .sentence = "id of the choice"},
    {"question", .sentence = "id of the clarification question; if missing, the question of the newest verdict"},
    END};

static const struct json_schema_field linking[] = {
    {"tables", .list = true, .max = LIST, .sentence = "tables that the linker chose"},
    {"columns", .list = true, .max = LIST, .sentence = "columns that the linker chose"},
    {"uncertain", JSON_SCHEMA_OBJECT, .list = true, .of = "uncertain", .max = MSG_MAX_UNCERTAIN,
     .sentence = "places where the linker is unreliable"},
    END};

static const struct json_schema_field uncertain[] = {
    {"stage", .choice = stage, .required = true,
     .sentence = "list of the linker that contains the place: tables or columns"},
    {"name", .max = NAME, .nullable = true,
     .sentence = "name that the linker was about to write; if missing, the place is the end of the list"},
    {"p", SHARE, .nullable = true, .sentence = "probability that the linker's choice was wrong"},
    END};

static const struct json_schema_field verdict[] = {
    {"schema_version", WHOLE, .required = true, .sentence = "version of this format"},
    {"request_digest", .sentence = "digest of the request without its id"},
    {"id", .required = true, .sentence = "id of the request"},
    {"db", .required = true, .nullable = true, .sentence = "database of the request"},
    {"status", .choice = status, .required = true, .sentence = "status of the verdict"},
    {"reason", .sentence = "error code, if the request failed or its judgement ended early"},
    {"message", .sentence = "description of reason"},
    {"cause", .sentence = "root cause of an abstention"},
    {"sql", .required = true, .nullable = true, .sentence = "SQL of the answer"},
    {"chosen", WHOLE, .required = true, .nullable = true,
     .sentence = "index of the answer's candidate; null for a repair"},
    {"p_correct", REAL, .required = true, .nullable = true,
     .sentence = "calibrated probability that the answer is correct"},
    {"threshold", REAL, .required = true, .nullable = true, .sentence = "minimum P(correct) to validate"},
    {"entailment_threshold", REAL, .required = true, .nullable = true,
     .sentence = "minimum entailment to validate, if only the verifier decides"},
    {"repair", JSON_SCHEMA_OBJECT, .of = "repair",
     .sentence = "similar query that is more likely correct than the best candidate"},
    {"guarantee", JSON_SCHEMA_OBJECT, .of = "guarantee",
     .sentence = "guarantee that at most a share alpha of such answers is wrong"},
    {"llm", JSON_SCHEMA_OBJECT, .of = "llm_usage", .sentence = "usage of language models"},
    {"candidates", JSON_SCHEMA_OBJECT, .list = true, .of = "judged", .required = true,
     .sentence = "one entry per candidate of the request, in the same order"},
    {"report", JSON_SCHEMA_OBJECT, .list = true, .of = "report", .required = true,
     .sentence = "signals that fired on the answer"},
    {"questions", .list = true, .required = true, .sentence = "with policy ask: questions for the user"},
    {"clarification", JSON_SCHEMA_OBJECT, .of = "clarification",
     .sentence = "with policy ask: readings of the question to choose from"},
    {"answers", JSON_SCHEMA_OBJECT, .list = true, .of = "answer",
     .sentence = "answers of the request that were used for this verdict"},
    {"unavailable", .list = true, .sentence = "families of signals that did not answer in time"},
    {"notes", .list = true, .sentence = "limitations of the judgement, such as missing checks"},
    {"cached", JSON_SCHEMA_BOOL,
     .sentence = "true: this is the cached verdict of an equal request; nothing was judged"},
    {"iterations", WHOLE, .required = true, .sentence = "number of candidates judged"},
    {"timings", JSON_SCHEMA_OBJECT, .of = "timings", .required = true, .sentence = "duration of the judgement"},
    {"versions", JSON_SCHEMA_MAP, .required = true, .sentence = "versions of the program and the models"},
    {"gold", .sentence = "gold of the request, unchanged"},
    {"meta", JSON_SCHEMA_ANY, .sentence = "meta of the request, unchanged"},
    {"line", WHOLE, .sentence = "in a batch or a replay: line number of the request"},
    END};

static const struct json_schema_field judged[] = {
    {"sql", .required = true, .nullable = true, .sentence = "SQL of the candidate, unchanged"},
    {"p_correct", REAL, .required = true, .nullable = true,
     .sentence = "final probability that the candidate is correct; null: not judged"},
    {"label_model_p", REAL, .required = true, .nullable = true, .sentence = "probability from the label model alone"},
    {"entailment", REAL, .required = true, .nullable = true,
     .sentence = "probability that the explanation answers the question"},
    {"signals", JSON_SCHEMA_MAP, .choice = state, .required = true, .nullable = true,
     .sentence = "state of each signal"},
    {"unavailable", JSON_SCHEMA_MAP, .nullable = true, .sentence = "reasons why signals were unavailable"},
    {"findings", JSON_SCHEMA_OBJECT, .list = true, .of = "finding", .required = true, .nullable = true,
     .sentence = "findings of signals; null: not judged"},
    {"verifier", .sentence = "verifier that computed entailment"},
    {"explanation", .required = true, .nullable = true,
     .sentence = "what the candidate computes, and from which rows its result comes"},
    {"explanation_polished", JSON_SCHEMA_OBJECT, .of = "polished", .sentence = "the explanation, reworded by a model"},
    {"explained", JSON_SCHEMA_ANY, .sentence = "with explain full: input of the verifier"},
    {"execution", JSON_SCHEMA_OBJECT, .of = "execution", .required = true, .nullable = true,
     .sentence = "result of executing the candidate; null: not executed"},
    {"same_as", WHOLE, .sentence = "index of an earlier candidate with the same normal form"},
    {"why", .required = true, .nullable = true, .sentence = "reason why the candidate was not judged or not chosen"},
    END};

static const struct json_schema_field finding[] = {
    {"signal", .required = true, .nullable = true, .sentence = "name of the signal"},
    {"severity", .choice = severity, .required = true, .sentence = "severity of the finding"},
    {"message", .required = true, .nullable = true, .sentence = "description of the problem"},
    {"clauses", JSON_SCHEMA_OBJECT, .list = true, .of = "clause", .required = true,
     .sentence = "clauses of the candidate that the finding is about"},
    {"data", JSON_SCHEMA_MAP, .of = "any", .required = true,
     .sentence = "facts from the data, as strings or lists of strings"},
    END};

static const struct json_schema_field clause[] = {
    {"label", .sentence = "label of the clause, such as WHERE"},
    {"text", .required = true, .nullable = true, .sentence = "SQL of the clause"},
    {"start", WHOLE, .required = true, .sentence = "byte offset in the candidate where the clause starts"},
    {"end", WHOLE, .required = true, .sentence = "byte offset in the candidate after the end of the clause"},
    END};

static const struct json_schema_field execution[] = {
    {"rows", WHOLE, .required = true, .nullable = true, .sentence = "number of rows of the result"},
    {"columns", WHOLE, .required = true, .nullable = true, .sentence = "number of columns of the result"},
    {"ms", REAL, .required = true, .nullable = true, .sentence = "duration in milliseconds"},
    {"digest", .required = true, .nullable = true, .sentence = "digest of the rows, ignoring their order"},
    {"error", .nullable = true, .sentence = "error code if the execution failed"},
    {"message", .nullable = true, .sentence = "description of the error"},
    {"offset", WHOLE, .nullable = true,
     .sentence = "byte offset of the error in the candidate, as the database reports it"},
    {"sample", JSON_SCHEMA_OBJECT, .of = "sample", .sentence = "with expose rows: first rows of the result"},
    END};

static const struct json_schema_field sample[] = {
    {"columns", .list = true, .required = true, .nullable = true, .sentence = "names of the columns"},
    {"rows", JSON_SCHEMA_ANY, .list = true, .required = true, .sentence = "lists of strings and nulls"},
    END};

static const struct json_schema_field polished[] = {
    {"text", .required = true, .nullable = true, .sentence = "text of the explanation"},
    {"source", .required = true, .nullable = true, .sentence = "name of the model, and version of the instructions"},
    END};

static const struct json_schema_field report[] = {
    {"signal", .required = true, .nullable = true, .sentence = "name of the signal"},
    {"cause", .required = true, .nullable = true, .sentence = "kind of error that the signal indicates"},
    {"description", .required = true, .nullable = true, .sentence = "meaning of the signal"},
    {"example", .sentence = "example of the error"},
    {"instruction", .required = true, .nullable = true, .sentence = "how to correct the query"},
    {"clauses", JSON_SCHEMA_MAP, .of = "any", .required = true,
     .sentence = "for each label of a clause, a list of SQL texts"},
    END};

static const struct json_schema_field repair_object[] = {
    {"applied", JSON_SCHEMA_BOOL, .required = true, .sentence = "true if the repair is the answer"},
    {"sql", .required = true, .nullable = true, .sentence = "SQL of the repair"},
    {"old_sql", .required = true, .nullable = true, .sentence = "SQL of the query that the repair changes"},
    {"of", WHOLE, .required = true, .sentence = "index of the candidate that the repair changes"},
    {"p_old", REAL, .required = true, .nullable = true,
     .sentence = "P(correct) of old_sql, judged without the other candidates"},
    {"p_correct", REAL, .required = true, .nullable = true, .sentence = "P(correct) of the repair"},
    {"reason", .sentence = "finding that the repair resolves"},
    {"source", .sentence = "chat model that wrote the repair; if missing, Assay edited the query"},
    {"steps", JSON_SCHEMA_OBJECT, .list = true, .of = "step", .required = true, .sentence = "changes of the repair"},
    {"proposals", WHOLE, .required = true, .sentence = "number of proposals judged"},
    END};

static const struct json_schema_field step[] = {
    {"clause", .required = true, .nullable = true, .sentence = "clause that was changed"},
    {"was", .required = true, .nullable = true, .sentence = "text before the change"},
    {"now", .required = true, .nullable = true, .sentence = "text after the change"},
    END};

static const struct json_schema_field guarantee[] = {
    {"alpha", REAL, .required = true, .nullable = true, .sentence = "alpha of the request"},
    {"delta", REAL, .required = true, .nullable = true,
     .sentence = "probability that the guarantee fails; its confidence is 1 - delta"},
    {"group", .required = true, .nullable = true,
     .sentence = "generator (system that wrote the candidates) whose labelled verdicts support the guarantee, or all"},
    {"records", WHOLE, .required = true, .sentence = "number of labelled verdicts that support the guarantee"},
    {"status", .choice = promise, .required = true, .nullable = true, .sentence = "state of the guarantee"},
    {"p_value", REAL, .required = true, .nullable = true,
     .sentence = "share of the wrong labelled answers that look at least as reliable as this answer"},
    {"why", .sentence = "reason why the guarantee does not hold"},
    END};

static const struct json_schema_field llm_usage[] = {
    {"calls", WHOLE, .required = true, .sentence = "number of requests to models"},
    {"cached", WHOLE, .required = true, .sentence = "number of cached responses"},
    {"tokens_in", WHOLE, .required = true, .sentence = "number of tokens sent"},
    {"tokens_out", WHOLE, .required = true, .sentence = "number of tokens received"},
    {"cost", REAL, .required = true, .nullable = true, .sentence = "cost at the configured prices"},
    {"source", .sentence = "model that answered last"},
    END};

static const struct json_schema_field clarification[] = {
    {"id", .required = true, .nullable = true, .sentence = "id that answers refer to"},
    {"question", .required = true, .nullable = true, .sentence = "question for the user"},
    {"choices", JSON_SCHEMA_OBJECT, .list = true, .of = "choice", .required = true,
     .sentence = "choices; the last one means none of them"},
    {"gain", REAL, .required = true, .nullable = true,
     .sentence = "expected increase of P(correct) when the user answers"},
    {"request", JSON_SCHEMA_ANY, .sentence = "request to send again with the answer"},
    END};

static const struct json_schema_field choice[] = {
    {"id", .required = true, .nullable = true, .sentence = "id that answers refer to"},
    {"text", .required = true, .nullable = true, .sentence = "description of the reading"},
    {"candidate", WHOLE, .sentence = "index of a candidate with this reading"},
    {"rows", WHOLE, .sentence = "number of rows in the result of the candidate"},
    {"sample", JSON_SCHEMA_OBJECT, .of = "sample", .sentence = "first rows in the result of the candidate"},
    END};

static const struct json_schema_field timings[] = {
    {"total_ms", REAL, .required = true, .nullable = true, .sentence = "milliseconds from arrival to verdict"},
    {"worker_ms", REAL, .required = true, .nullable = true, .sentence = "milliseconds spent in workers"},
    END};

static const struct json_schema_field later[] = {{"id", .required = true, .sentence = "id of the request"},
                                                 {"location", .required = true, .sentence = "path of the verdict"},
                                                 {"line", WHOLE, .sentence = "in a batch: line number of the request"},
                                                 END};

static const struct json_schema_field problem[] = {
    {"type", .required = true, .sentence = "about:blank"},
    {"title", .required = true, .sentence = "kind of failure"},
    {"status", WHOLE, .required = true, .sentence = "HTTP status"},
    {"code", .choice = code, .required = true, .sentence = "error code for programs"},
    {"detail", .sentence = "what failed and where"},
    {"hint", .sentence = "advice for the caller"},
    END};

const struct json_schema_object json_schema_objects[] = {
    {"request", "A question, a database and the queries to judge. Other keys are ignored.", request},
    {"candidate", "A query and its origin.", candidate},
    {"answer", "The user's answer to a clarification question.", answer},
    {"chosen_answer", "The user's answer to the clarification question in the newest verdict of an id.", chosen_answer},
    {"linking", "Output of a schema linker for the question.", linking},
    {"uncertain", "A place where a schema linker is unreliable.", uncertain},
    {"verdict", "The answer, its probability of being correct, and the reasons.", verdict},
    {"judged", "Judgement of one candidate.", judged},
    {"finding", "Finding of one signal.", finding},
    {"clause", "A part of a candidate's SQL.", clause},
    {"execution", "Result of executing a candidate.", execution},
    {"sample", "First rows of a result.", sample},
    {"polished", "An explanation reworded by a model.", polished},
    {"report", "A signal that fired on the answer, with an instruction for a repair.", report},
    {"repair", "A query similar to the best candidate.", repair_object},
    {"step", "One change of a repair.", step},
    {"guarantee", "Guarantee on the share of wrong answers among similar answers.", guarantee},
    {"llm_usage", "Usage of language models.", llm_usage},
    {"clarification", "A clarification question for the user.", clarification},
    {"choice", "One reading (interpretation) of the question.", choice},
    {"timings", "Duration of the judgement in milliseconds.", timings},
    {"later", "Where to read a verdict that is not ready within wait_ms.", later},
    {"problem", "An error (RFC 9457).", problem},
    {.name = NULL}};

const struct json_schema_object *json_schema_find(const char *name)
{
    for (const struct json_schema_object *object = json_schema_objects; object->name; object++)
        if (strcmp(object->name, name) == 0) return object;
    return NULL;
}

char *json_schema_kind_text(const struct json_schema_field *field)
{
    static const char *const kinds[] = {
        [JSON_SCHEMA_STRING] = "string", [JSON_SCHEMA_WHOLE] = "whole number",
        [JSON_SCHEMA_REAL] = "number",   [JSON_SCHEMA_BOOL] = "true or false",
        [JSON_SCHEMA_MAP] = "object",    [JSON_SCHEMA_EXPLAIN] = "true, false or \"full\"",
        [JSON_SCHEMA_ANY] = "any"};
    GString *text = g_string_new(field->list ? "list of " : NULL);
    if (field->kind == JSON_SCHEMA_CANDIDATE)
        g_string_append_printf(text, "string or %s", field->of);
    else
        g_string_append(text, field->kind == JSON_SCHEMA_OBJECT ? field->of : kinds[field->kind]);
    if (field->nullable) g_string_append(text, ", or null");
    return g_string_free(text, FALSE);
}
