/* Explains one statement (story.h). Every statement that it runs passes a gate for denied columns. A statement that the
 * engine refuses has no explanation. Values are included only as far as the policy of the database permits. Error
 * messages of the engine may quote values, so the policy applies to them too. */
#include "cli/commands/story.h"

#include "cli/output/format.h"
#include "cli/output/alignment_output.h"
#include "cli/output/links_output.h"
#include "lib/db/executor.h"
#include "lib/explain/provenance.h"
#include "lib/question/question.h"
#include "signals/support/links.h"
#include "signals/support/meaning.h"

#include <math.h>
#include <string.h>

/* --- making the explanation --- */

static enum explain_expose exposed(enum msg_expose expose)
{
    static const enum explain_expose known[MSG_EXPOSE_COUNT] = {EXPLAIN_VALUES, EXPLAIN_NONE, EXPLAIN_VALUES,
                                                                EXPLAIN_ROWS};
    return known[expose];
}

enum err_code story_open(struct story *story, const struct worker_database *database, struct executor *executor,
                         struct err *err)
{
    *story = (struct story){.database = *database, .entails = NAN};
    arena_init(&story->arena, (size_t)256 << 20);
    return executor ? executor_open(executor, database->path, &database->limits, &story->db, err)
                    : db_open(database->path, &database->limits, &story->db, err);
}

void story_close(struct story *story)
{
    if (story->schema) schema_unref(story->schema);
    db_close(story->db);
    arena_free(&story->arena);
}

static bool hides_denied(const struct story *story)
{
    return story->database.deny_mode == WORKER_DENY_HIDE;
}

/* Makes the gate refuse statements that read a denied column, unless the operator has chosen to only hide these
 * columns. */
static void set_gate(struct story *story)
{
    if (!story->database.n_deny_columns || hides_denied(story)) return;
    story->gate = (struct schema_gate){story->schema, story->database.deny_columns, story->database.n_deny_columns};
    db_set_gate(story->db, schema_gate_check, &story->gate);
}

/* Parses and analyses the statement. If the engine refuses the statement, returns the engine's reason as the error. */
static enum err_code read_statement(struct story *story, const char *sql, size_t len, const char *question,
                                    const char *evidence, struct err *err)
{
    struct vsig_subject *subject = &story->subject;
    const struct question *analysis = question ? question_read(&story->arena, story->schema, question, evidence) : NULL;
    enum err_code code = db_prepare_check(story->db, sql, len, NULL, err);
    if (code) return code;
    code = vsig_subject_init(subject, &story->arena, story->schema, story->db, sql, len, question, evidence, analysis);
    if (!code && subject->bound->diags) code = subject->bound->diags->code;
    if (code) return err_set(err, code, "cannot explain this statement: %s", err_meaning(code));
    if (schema_reads_denied(story->schema, subject->bound, story->gate.names, story->gate.n))
        vsig_refuse(subject, ERR_DENIED);
    vsig_result(subject);
    return ERR_OK;
}

static enum err_code explain(struct story *story, struct err *err)
{
    const struct vsig_subject *subject = &story->subject;
    bool ran = subject->result_code == ERR_OK;
    struct explain_source source = {.sql = subject->sql,
                                    .sql_len = subject->sql_len,
                                    .stmt = subject->stmt,
                                    .bound = subject->bound,
                                    .index = story->schema,
                                    .db = ran ? story->db : NULL,
                                    .result = ran ? &subject->result : NULL};
    story->options = explain_defaults;
    story->options.expose = exposed(story->database.expose);
    story->options.deny_columns = story->database.deny_columns;
    story->options.n_deny_columns = story->database.n_deny_columns;
    story->options.may_probe = ran;
    if (schema_uses_denied(story->schema, subject->bound, story->options.deny_columns, story->options.n_deny_columns))
        story->options.expose = EXPLAIN_NONE;
    return explain_query(&story->arena, &source, &story->options, &story->explanation, err);
}

enum err_code story_tell(struct story *story, const char *sql, size_t len, const char *question, const char *evidence,
                         struct err *err)
{
    set_gate(story);
    enum err_code code = read_statement(story, sql, len, question, evidence, err);
    return code ? code : explain(story, err);
}

/* --- JSON --- */

static json_t *text_json(const char *text, size_t len)
{
    char *copy = g_strndup(text, len);
    json_t *out = format_text(copy);
    g_free(copy);
    return out;
}

static json_t *value_json(const struct db_value *value)
{
    switch (value->type) {
    case DB_NULL: return json_null();
    case DB_INT: return json_integer(value->i);
    case DB_FLOAT: return isfinite(value->f) ? json_real(value->f) : json_null();
    case DB_TEXT: return text_json(value->text, value->len);
    case DB_BLOB: return json_sprintf("blob of %zu bytes", value->len);
    }
    return json_null();
}

static json_t *phrase_json(const struct story *story, const struct explain_phrase *phrase)
{
    json_t *columns = json_array();
    for (uint32_t i = 0; i < phrase->n_columns; i++) {
        const struct schema_column *column = story->schema->columns[phrase->columns[i]];
        json_array_append_new(columns, json_sprintf("%s.%s", story->schema->tables[column->table].name, column->name));
    }
    return json_pack("{s:s,s:o,s:o,s:b,s:i,s:i,s:i,s:o}", "kind", explain_kind_name(phrase->kind), "prose",
                     format_text(phrase->prose), "premise", format_text(phrase->premise), "from_data",
                     phrase->from_data, "depth", (int)phrase->depth, "start", (int)phrase->start, "end",
                     (int)phrase->end, "columns", columns);
}

/* True if the values of a column are denied. A computed column or a row number may show a denied value, so it counts as
 * denied if any column is denied. */
static bool is_denied(const struct story *story, const struct prov_column *column)
{
    uint32_t n = story->options.n_deny_columns;
    return column->column ? schema_column_is_denied(story->schema, column->column, story->options.deny_columns, n)
                          : n > 0;
}

/* Returns the reason of a failed run. If the policy hides values, omits the engine's message, which may quote one. */
static json_t *reason_json(const struct story *story, const char *reason)
{
    bool engine_said = story->explanation->provenance->code == ERR_ENGINE;
    bool closed = story->options.n_deny_columns > 0 || story->options.expose == EXPLAIN_NONE;
    if (!reason || !*reason) return json_null();
    return format_text(engine_said && closed ? err_meaning(ERR_ENGINE) : reason);
}

/* Returns source rows: all fetched ones, the first one, or none, depending on the policy. */
static json_t *rows_json(const struct story *story, const struct prov_arm *arm)
{
    json_t *rows = json_array();
    uint32_t n = story->options.expose == EXPLAIN_ROWS ? arm->n_rows : story->options.expose == EXPLAIN_VALUES;
    for (uint32_t r = 0; r < n && r < arm->n_rows; r++) {
        json_t *row = json_array();
        for (uint32_t c = 0; c < arm->n_columns; c++)
            json_array_append_new(row, is_denied(story, &arm->columns[c])
                                           ? json_null()
                                           : value_json(&arm->values[(size_t)r * arm->n_columns + c]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *arm_json(const struct story *story, const struct prov_arm *arm)
{
    static const char *const states[] = {[PROV_ARM_ROWS] = "rows",
                                         [PROV_ARM_OTHER] = "other",
                                         [PROV_ARM_EXCLUDED] = "excluded",
                                         [PROV_ARM_NO_SOURCE] = "no_source",
                                         [PROV_ARM_UNAVAILABLE] = "unavailable"};
    static const char *const shapes[] = {[PROV_SHAPE_PLAIN] = "plain",
                                         [PROV_SHAPE_WHOLE] = "whole",
                                         [PROV_SHAPE_GROUP] = "group",
                                         [PROV_SHAPE_MERGED] = "merged"};
    bool open = story->options.expose != EXPLAIN_NONE; /* the rewritten statement contains the chosen row's values */
    json_t *columns = json_array();
    for (uint32_t c = 0; c < arm->n_columns; c++) json_array_append_new(columns, format_text(arm->columns[c].label));
    return json_pack("{s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:b,s:b}", "state", states[arm->state], "shape", shapes[arm->shape],
                     "parent", (int)arm->parent, "reason", reason_json(story, arm->reason), "sql",
                     format_text(open ? arm->all_sql : NULL), "columns", columns, "rows", rows_json(story, arm), "more",
                     arm->more || (open && story->options.expose == EXPLAIN_VALUES && arm->n_rows > 1), "exact",
                     arm->exact);
}

static json_t *provenance_json(const struct story *story)
{
    static const char *const states[] = {[PROV_ROWS] = "rows",
                                         [PROV_NO_SOURCE] = "no_source",
                                         [PROV_EMPTY] = "empty",
                                         [PROV_NOTHING] = "nothing",
                                         [PROV_UNAVAILABLE] = "unavailable"};
    const struct provenance *from = story->explanation->provenance;
    if (!from) return json_null();
    json_t *arms = json_array();
    for (uint32_t i = 0; i < from->n_arms; i++) json_array_append_new(arms, arm_json(story, &from->arms[i]));
    return json_pack("{s:s,s:o,s:i,s:s,s:i,s:o}", "status", states[from->status], "reason",
                     reason_json(story, from->reason), "row", (int)from->row, "rule", prov_rule_text(from->rule),
                     "statements", (int)from->statements, "arms", arms);
}

static json_t *culprit_json(const struct story *story, const struct whynot_culprit *culprit)
{
    bool open = story->options.expose != EXPLAIN_NONE;
    json_t *nearest = json_array();
    for (uint32_t i = 0; open && i < culprit->n_nearest; i++)
        json_array_append_new(nearest, format_text(culprit->nearest[i]));
    uint32_t start = culprit->node->start, end = culprit->node->end;
    return json_pack("{s:s,s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "kind", whynot_kind_name(culprit->kind), "text",
                     text_json(story->subject.sql + start, end - start), "start", (int)start, "end", (int)end, "column",
                     format_text(culprit->column ? culprit->column->name : NULL), "literal",
                     format_text(culprit->written), "stored",
                     culprit->stored < 0 ? json_null() : json_boolean(culprit->stored), "nearest", nearest);
}

static json_t *whynot_json(const struct story *story)
{
    static const char *const states[] = {[WHYNOT_FOUND] = "found",
                                         [WHYNOT_NOT_EMPTY] = "not_empty",
                                         [WHYNOT_NO_DATA] = "no_data",
                                         [WHYNOT_UNAVAILABLE] = "unavailable"};
    const struct whynot *from = story->explanation->whynot;
    if (!from) return json_null();
    json_t *culprits = json_array();
    for (uint32_t i = 0; i < from->n_culprits; i++)
        json_array_append_new(culprits, culprit_json(story, &from->culprits[i]));
    return json_pack("{s:s,s:o,s:b,s:i,s:o}", "status", states[from->status], "reason",
                     format_text(from->reason && *from->reason ? from->reason : NULL), "minimal", from->minimal,
                     "probes", (int)from->probes, "culprits", culprits);
}

/* Returns the verifier's features by name. Omits features whose value is unknown. */
static json_t *features_json(struct story *story)
{
    float values[FEATURE_COUNT];
    json_t *out = json_object();
    if (features_extract(&story->subject, story->explanation, &story->arena, values)) return out;
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        if (isfinite(values[i])) json_object_set_new(out, features_name(i), json_real((double)values[i]));
    return out;
}

static json_t *gaps_json(const struct story *story)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < story->n_gaps; i++) {
        const struct features_gap *gap = &story->gaps[i];
        json_array_append_new(out, json_pack("{s:o,s:i,s:i}", "text",
                                             text_json(story->subject.question + gap->start, gap->end - gap->start),
                                             "start", (int)gap->start, "end", (int)gap->end));
    }
    return out;
}

json_t *story_json(struct story *story)
{
    const struct explanation *explanation = story->explanation;
    const struct vsig_subject *subject = &story->subject;
    bool ran = subject->result_code == ERR_OK;
    json_t *phrases = json_array();
    for (uint32_t i = 0; i < explanation->n_phrases; i++)
        json_array_append_new(phrases, phrase_json(story, &explanation->phrases[i]));
    json_t *out = json_pack(
        "{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o}", "schema_version", 1, "sql",
        text_json(subject->sql, subject->sql_len), "rows", ran ? json_integer(subject->result.n_rows) : json_null(),
        "error", format_text(ran ? NULL : err_name(subject->result_code)), "prose", format_text(explanation->prose),
        "premise", format_text(explanation->premise), "missing", format_text(explanation->missing), "cut",
        explanation->cut, "phrases", phrases, "provenance", provenance_json(story), "why_not", whynot_json(story));
    if (!subject->question) return out;
    json_object_set_new(out, "features", features_json(story));
    json_object_set_new(out, "entailment", isnan(story->entails) ? json_null() : json_real(story->entails));
    json_object_set_new(out, "unanswered", gaps_json(story));
    const struct link_query *links = vsig_links(&story->subject);
    if (links) json_object_set_new(out, "links", links_json(links));
    const struct alignment *alignment = vsig_alignment(&story->subject);
    if (alignment) json_object_set_new(out, "alignment", alignment_json(subject->analysis, alignment, subject->sql));
    return out;
}
