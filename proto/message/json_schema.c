#include "proto/message/json_schema.h"

#include "lib/base/error.h"
#include "proto/message/msg.h"

#include <glib.h>
#include <string.h>

/* --- what a string may be --- */

/* Names by number, of which number 0 may be "unset", without a name. */
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
    {"id", .max = NAME, .nullable = true, .sentence = "names the request in its verdict; without one it gets one"},
    {"db", .max = NAME, .required = true, .sentence = "the database, by its name in the catalogue"},
    {"question", .max = MSG_MAX_QUESTION, .nullable = true, .sentence = "what the user asked"},
    {"evidence", .max = MSG_MAX_QUESTION, .nullable = true, .sentence = "what is known about the question's words"},
    {"schema", .max = MSG_MAX_SCHEMA, .nullable = true,
     .sentence = "DDL in place of the database, where no data may be seen: db is a label then"},
    {"candidates", JSON_SCHEMA_CANDIDATE, .list = true, .of = "candidate", .max = MSG_MAX_CANDIDATES,
     .sentence = "the queries to judge"},
    {"deadline_ms", WHOLE, .min = -1, .max = 4e12, .nullable = true,
     .sentence = "milliseconds from its arrival; -1: none"},
    {"max_iterations", WHOLE, .max = MANY, .nullable = true, .sentence = "candidates to judge at most; 0: all"},
    {"speculate", WHOLE, .max = MANY, .nullable = true, .sentence = "candidates to judge at a time"},
    {"strategy", .choice = strategy, .nullable = true,
     .sentence = "in which order candidates are judged, and what validates"},
    {"policy", .choice = policy, .nullable = true, .sentence = "what to answer when nothing validates"},
    {"order", .choice = order, .nullable = true, .sentence = "what the places of the candidates mean"},
    {"repair", .choice = repair, .nullable = true, .sentence = "what becomes of a query near the answer that is surer"},
    {"repair_margin", SHARE, .nullable = true, .sentence = "by how much surer it must be"},
    {"expose", .choice = expose, .nullable = true, .sentence = "what of the data may show"},
    {"threshold", SHARE, .nullable = true, .sentence = "P(correct) from which a candidate validates"},
    {"alpha", SHARE, .nullable = true, .sentence = "in its place: the share of wrong answers to be put up with"},
    {"delta", SHARE, .nullable = true, .sentence = "1 less the confidence of that promise"},
    {"ask_gain", SHARE, .nullable = true, .sentence = "by how much an answer must raise P(correct) to be asked for"},
    {"families", .list = true, .max = LIST, .sentence = "families of signals to run; none: all"},
    {"deny_columns", .list = true, .max = LIST,
     .sentence = "columns that no statement may read: [schema.]table.column, column or table.*, quoted as in SQL"},
    {"explain", JSON_SCHEMA_EXPLAIN, .nullable = true,
     .sentence = "explain results in words; \"full\": and what the verifier saw"},
    {"cache", JSON_SCHEMA_BOOL, .nullable = true, .sentence = "false: judge it, whatever verdict a fleet has kept"},
    {"answers", JSON_SCHEMA_OBJECT, .list = true, .of = "answer", .max = MSG_MAX_ANSWERS,
     .sentence = "what a person chose of what earlier verdicts asked"},
    {"linking", JSON_SCHEMA_OBJECT, .of = "linking", .nullable = true,
     .sentence = "what a schema linker said of the question"},
    {"gold", .max = MSG_MAX_SQL, .nullable = true, .sentence = "right SQL; passes through"},
    {"meta", JSON_SCHEMA_ANY, .sentence = "passes through"},
    {"traceparent", .max = NAME, .nullable = true, .sentence = "W3C trace context"},
    END};

static const struct json_schema_field candidate[] = {
    {"sql", .max = MSG_MAX_SQL, .required = true, .sentence = "the query"},
    {"count", WHOLE, .max = MANY, .nullable = true, .sentence = "how many beams or samples gave it"},
    {"score", REAL, .nullable = true, .sentence = "of the generator"},
    {"generators", .list = true, .max = LIST, .sentence = "who wrote it"},
    END};

static const struct json_schema_field answer[] = {
    {"question", .max = NAME, .required = true, .sentence = "id of the clarification"},
    {"choice", .max = NAME, .required = true, .sentence = "id of the choice"},
    END};

static const struct json_schema_field chosen_answer[] = {
    {"choice", .required = true, .sentence = "id of the choice"},
    {"question", .sentence = "id of the clarification; not there: that of the newest verdict"},
    END};

static const struct json_schema_field linking[] = {
    {"tables", .list = true, .max = LIST, .sentence = "tables that it chose"},
    {"columns", .list = true, .max = LIST, .sentence = "columns that it chose"},
    {"uncertain", JSON_SCHEMA_OBJECT, .list = true, .of = "uncertain", .max = MSG_MAX_UNCERTAIN,
     .sentence = "where it is not to be trusted"},
    END};

static const struct json_schema_field uncertain[] = {
    {"stage", .choice = stage, .required = true, .sentence = "which of its lists"},
    {"name", .max = NAME, .nullable = true, .sentence = "what it was about to write; not there: the end of its list"},
    {"p", SHARE, .nullable = true, .sentence = "that its choice was wrong"},
    END};

static const struct json_schema_field verdict[] = {
    {"schema_version", WHOLE, .required = true, .sentence = "of this format"},
    {"request_digest", .sentence = "of the request, whatever its id"},
    {"id", .required = true, .sentence = "of the request"},
    {"db", .required = true, .nullable = true, .sentence = "of the request"},
    {"status", .choice = status, .required = true, .sentence = "what the verdict is"},
    {"reason", .sentence = "of a failure, or of what ended early: the name of an error code"},
    {"message", .sentence = "the same as a sentence"},
    {"cause", .sentence = "what stands behind an abstention"},
    {"sql", .required = true, .nullable = true, .sentence = "the answer"},
    {"chosen", WHOLE, .required = true, .nullable = true, .sentence = "index of its candidate; of a repair null"},
    {"p_correct", REAL, .required = true, .nullable = true,
     .sentence = "calibrated probability that the answer is right"},
    {"threshold", REAL, .required = true, .nullable = true, .sentence = "what it had to reach"},
    {"entailment_threshold", REAL, .required = true, .nullable = true,
     .sentence = "what the verifier had to reach, where it decides alone"},
    {"repair", JSON_SCHEMA_OBJECT, .of = "repair", .sentence = "a query near the best candidate that is surer"},
    {"guarantee", JSON_SCHEMA_OBJECT, .of = "guarantee", .sentence = "what is promised for alpha"},
    {"llm", JSON_SCHEMA_OBJECT, .of = "llm_usage", .sentence = "what asking language models took"},
    {"candidates", JSON_SCHEMA_OBJECT, .list = true, .of = "judged", .required = true,
     .sentence = "one entry an input candidate, in input order"},
    {"report", JSON_SCHEMA_OBJECT, .list = true, .of = "report", .required = true,
     .sentence = "each signal that fired on the answer"},
    {"questions", .list = true, .required = true, .sentence = "under policy ask: what to ask the user"},
    {"clarification", JSON_SCHEMA_OBJECT, .of = "clarification",
     .sentence = "under policy ask: readings of the question, to choose from"},
    {"answers", JSON_SCHEMA_OBJECT, .list = true, .of = "answer", .sentence = "of the request, which counted"},
    {"unavailable", .list = true, .sentence = "families that did not answer in time"},
    {"notes", .list = true, .sentence = "how the judgement came about, where something was missing"},
    {"cached", JSON_SCHEMA_BOOL, .sentence = "true: it was kept of an equal request before, and nothing was judged"},
    {"iterations", WHOLE, .required = true, .sentence = "candidates judged"},
    {"timings", JSON_SCHEMA_OBJECT, .of = "timings", .required = true, .sentence = "how long it took"},
    {"versions", JSON_SCHEMA_MAP, .required = true, .sentence = "program and models"},
    {"gold", .sentence = "of the request"},
    {"meta", JSON_SCHEMA_ANY, .sentence = "of the request"},
    {"line", WHOLE, .sentence = "in a batch and in the output of a replay: which line it answers"},
    END};

static const struct json_schema_field judged[] = {
    {"sql", .required = true, .nullable = true, .sentence = "as it was given"},
    {"p_correct", REAL, .required = true, .nullable = true, .sentence = "final probability; null: not judged"},
    {"label_model_p", REAL, .required = true, .nullable = true, .sentence = "of the label model alone"},
    {"entailment", REAL, .required = true, .nullable = true, .sentence = "P(the explanation answers the question)"},
    {"signals", JSON_SCHEMA_MAP, .choice = state, .required = true, .nullable = true,
     .sentence = "what each signal said"},
    {"unavailable", JSON_SCHEMA_MAP, .nullable = true, .sentence = "why a signal could not look"},
    {"findings", JSON_SCHEMA_OBJECT, .list = true, .of = "finding", .required = true, .nullable = true,
     .sentence = "what signals found; null: not judged"},
    {"verifier", .sentence = "who says the entailment"},
    {"explanation", .required = true, .nullable = true,
     .sentence = "what it does, and where its result comes from, in words"},
    {"explanation_polished", JSON_SCHEMA_OBJECT, .of = "polished", .sentence = "the same in a model's words"},
    {"explained", JSON_SCHEMA_ANY, .sentence = "under explain: full, what the verifier saw"},
    {"execution", JSON_SCHEMA_OBJECT, .of = "execution", .required = true, .nullable = true,
     .sentence = "what running it gave; null: not tried"},
    {"same_as", WHOLE, .sentence = "index of the candidate whose normal form it repeats"},
    {"why", .required = true, .nullable = true, .sentence = "why it was not judged, or not chosen"},
    END};

static const struct json_schema_field finding[] = {
    {"signal", .required = true, .nullable = true, .sentence = "its name"},
    {"severity", .choice = severity, .required = true, .sentence = "how bad it is"},
    {"message", .required = true, .nullable = true, .sentence = "what is wrong"},
    {"clauses", JSON_SCHEMA_OBJECT, .list = true, .of = "clause", .required = true, .sentence = "where"},
    {"data", JSON_SCHEMA_MAP, .of = "any", .required = true,
     .sentence = "facts from the data, strings or lists of strings"},
    END};

static const struct json_schema_field clause[] = {
    {"label", .sentence = "of the clause, as WHERE"},
    {"text", .required = true, .nullable = true, .sentence = "the SQL"},
    {"start", WHOLE, .required = true, .sentence = "its first byte in the candidate"},
    {"end", WHOLE, .required = true, .sentence = "the byte behind it"},
    END};

static const struct json_schema_field execution[] = {
    {"rows", WHOLE, .required = true, .nullable = true, .sentence = "of the result"},
    {"columns", WHOLE, .required = true, .nullable = true, .sentence = "of the result"},
    {"ms", REAL, .required = true, .nullable = true, .sentence = "how long it took"},
    {"digest", .required = true, .nullable = true, .sentence = "of the rows, as a bag"},
    {"error", .nullable = true, .sentence = "of a failure: the name of an error code"},
    {"message", .nullable = true, .sentence = "the same as a sentence"},
    {"offset", WHOLE, .nullable = true, .sentence = "byte of the candidate that the engine points at"},
    {"sample", JSON_SCHEMA_OBJECT, .of = "sample", .sentence = "under expose: rows, its first rows"},
    END};

static const struct json_schema_field sample[] = {
    {"columns", .list = true, .required = true, .nullable = true, .sentence = "their names"},
    {"rows", JSON_SCHEMA_ANY, .list = true, .required = true, .sentence = "lists of strings, and null"},
    END};

static const struct json_schema_field polished[] = {
    {"text", .required = true, .nullable = true, .sentence = "the explanation"},
    {"source", .required = true, .nullable = true, .sentence = "the model, and the version of its instructions"},
    END};

static const struct json_schema_field report[] = {
    {"signal", .required = true, .nullable = true, .sentence = "its name"},
    {"cause", .required = true, .nullable = true, .sentence = "what kind of mistake it points at"},
    {"description", .required = true, .nullable = true, .sentence = "what it means"},
    {"example", .sentence = "of the mistake"},
    {"instruction", .required = true, .nullable = true, .sentence = "what to do"},
    {"clauses", JSON_SCHEMA_MAP, .of = "any", .required = true, .sentence = "lists of the clauses' SQL, by label"},
    END};

static const struct json_schema_field repair_object[] = {
    {"applied", JSON_SCHEMA_BOOL, .required = true, .sentence = "it is the answer"},
    {"sql", .required = true, .nullable = true, .sentence = "the repair"},
    {"old_sql", .required = true, .nullable = true, .sentence = "what it is near to"},
    {"of", WHOLE, .required = true, .sentence = "index of that candidate"},
    {"p_old", REAL, .required = true, .nullable = true, .sentence = "P(correct) of the old query alone"},
    {"p_correct", REAL, .required = true, .nullable = true, .sentence = "and of the repair"},
    {"reason", .sentence = "what a finding says of what it changes"},
    {"source", .sentence = "the model that wrote it; not there: an edit of ours"},
    {"steps", JSON_SCHEMA_OBJECT, .list = true, .of = "step", .required = true, .sentence = "what changed"},
    {"proposals", WHOLE, .required = true, .sentence = "how many were judged"},
    END};

static const struct json_schema_field step[] = {{"clause", .required = true, .nullable = true, .sentence = "where"},
                                                {"was", .required = true, .nullable = true, .sentence = "before"},
                                                {"now", .required = true, .nullable = true, .sentence = "after"},
                                                END};

static const struct json_schema_field guarantee[] = {
    {"alpha", REAL, .required = true, .nullable = true, .sentence = "as asked"},
    {"delta", REAL, .required = true, .nullable = true, .sentence = "1 less the confidence"},
    {"group", .required = true, .nullable = true, .sentence = "the generator whose verdicts it rests on, or all"},
    {"records", WHOLE, .required = true, .sentence = "how many"},
    {"status", .choice = promise, .required = true, .nullable = true, .sentence = "whether it holds"},
    {"p_value", REAL, .required = true, .nullable = true,
     .sentence = "of wrong answers there, the share that looks as sure as this one"},
    {"why", .sentence = "it is not held"},
    END};

static const struct json_schema_field llm_usage[] = {
    {"calls", WHOLE, .required = true, .sentence = "requests to models"},
    {"cached", WHOLE, .required = true, .sentence = "answers that were known"},
    {"tokens_in", WHOLE, .required = true, .sentence = "sent"},
    {"tokens_out", WHOLE, .required = true, .sentence = "received"},
    {"cost", REAL, .required = true, .nullable = true, .sentence = "at the prices that are set"},
    {"source", .sentence = "the model that answered last"},
    END};

static const struct json_schema_field clarification[] = {
    {"id", .required = true, .nullable = true, .sentence = "answers name it by that"},
    {"question", .required = true, .nullable = true, .sentence = "for the person who asked"},
    {"choices", JSON_SCHEMA_OBJECT, .list = true, .of = "choice", .required = true,
     .sentence = "the last is none of them"},
    {"gain", REAL, .required = true, .nullable = true,
     .sentence = "by how much an answer raises P(correct) on average"},
    {"request", JSON_SCHEMA_ANY, .sentence = "to be sent again with the answer"},
    END};

static const struct json_schema_field choice[] = {
    {"id", .required = true, .nullable = true, .sentence = "answers name it by that"},
    {"text", .required = true, .nullable = true, .sentence = "the reading, in words"},
    {"candidate", WHOLE, .sentence = "index of one that reads the question so"},
    {"rows", WHOLE, .sentence = "of its result"},
    {"sample", JSON_SCHEMA_OBJECT, .of = "sample", .sentence = "its first rows"},
    END};

static const struct json_schema_field timings[] = {
    {"total_ms", REAL, .required = true, .nullable = true, .sentence = "from its arrival"},
    {"worker_ms", REAL, .required = true, .nullable = true, .sentence = "of workers"},
    END};

static const struct json_schema_field later[] = {
    {"id", .required = true, .sentence = "of the request"},
    {"location", .required = true, .sentence = "path at which its verdict will be"},
    {"line", WHOLE, .sentence = "in a batch: which line it answers"},
    END};

static const struct json_schema_field problem[] = {
    {"type", .required = true, .sentence = "about:blank"},
    {"title", .required = true, .sentence = "what kind of failure"},
    {"status", WHOLE, .required = true, .sentence = "of HTTP"},
    {"code", .choice = code, .required = true, .sentence = "its name, for programs"},
    {"detail", .sentence = "what, where and what to do"},
    END};

const struct json_schema_object json_schema_objects[] = {
    {"request", "A question, a database and the queries to judge. Other keys are ignored.", request},
    {"candidate", "A query, with what is known of where it comes from.", candidate},
    {"answer", "What a person chose.", answer},
    {"chosen_answer", "What a person chose of what the newest verdict of an id asks.", chosen_answer},
    {"linking", "What a schema linker said of the question.", linking},
    {"uncertain", "A place at which a schema linker is not to be trusted.", uncertain},
    {"verdict", "Which candidate holds, how sure that is, and why.", verdict},
    {"judged", "What became of one candidate.", judged},
    {"finding", "What one signal found.", finding},
    {"clause", "A piece of a candidate.", clause},
    {"execution", "What running a candidate gave.", execution},
    {"sample", "First rows of a result.", sample},
    {"polished", "An explanation in a model's words.", polished},
    {"report", "A signal that fired on the answer, for whoever repairs it.", report},
    {"repair", "A query near the best candidate.", repair_object},
    {"step", "One change of a repair.", step},
    {"guarantee", "What is promised of answers like this one.", guarantee},
    {"llm_usage", "What asking language models took.", llm_usage},
    {"clarification", "What to ask the person who asked.", clarification},
    {"choice", "One reading of the question.", choice},
    {"timings", "How long the judgement took, in milliseconds.", timings},
    {"later", "Where a verdict will be that takes longer than the caller waits.", later},
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
