/* Formats a verdict for a model: the outcome, its probability, suspect clauses with reasons, and the next step. The
 * whole verdict is available as a resource. */
#include "cli/commands/agent_int.h"
#include "lib/base/locations.h"

#include <string.h>

/* Bounds of the text of a result. The resource contains the whole verdict. */
enum { MAX_SENTENCE = 400, MAX_PROSE = 1500, MAX_FINDINGS = 6, MAX_OTHERS = 16 };

static const struct row {
    const char *status, *headline, *next;
    bool trusted;
} rows[] = {
    {"validated", "VALIDATED", "Run this SQL unchanged and answer with its result.", true},
    {"repaired", "REPAIRED", "Run this SQL, which was repaired, and answer with its result.", true},
    {"best_effort", "NOT VALIDATED",
     "Do not present its result as fact. Write candidates without the suspect parts and call judge_sql again with all "
     "of them, or try repair_sql; if nothing validates, tell the user what is in doubt.",
     false},
    {"abstained", "ABSTAINED",
     "Show no result. Write other candidates without the suspect parts and call judge_sql again, or tell the user that "
     "the question could not be answered reliably.",
     false},
    {"ask", "ASK THE USER",
     "Put the question to the user. After a choice, call judge_sql again with the same arguments and the choice in "
     "`answers`; without a choice, let the user rephrase the question and judge candidates for that.",
     false},
};

static const struct row *row_of(const json_t *verdict)
{
    const char *status = json_string_value(json_object_get(verdict, "status"));
    for (unsigned i = 0; status && i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].status, status) == 0) return &rows[i];
    return NULL;
}

/* True if the answer is a repair, so that findings and explanation refer to the query before it. */
static bool is_repaired(const struct row *row)
{
    return strcmp(row->status, msg_status_name(MSG_STATUS_REPAIRED)) == 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void append_line(GString *out, const char *lead, const char *text, size_t max)
{
    if (!text || !*text) return;
    g_string_append(out, lead);
    agent_append(out, text, max);
    g_string_append_c(out, '\n');
}

/* --- the subject of the verdict --- */

/* Returns the chosen candidate, or for a repair the candidate that was repaired. Otherwise returns the one with the
 * highest P(correct), or NULL if there are no candidates. */
static const json_t *subject_of(const json_t *verdict)
{
    size_t i;
    const json_t *judged, *best = NULL;
    const json_t *candidates = json_object_get(verdict, "candidates");
    const json_t *index = json_object_get(verdict, "chosen");
    if (!json_is_integer(index)) index = json_object_get(json_object_get(verdict, "repair"), "of");
    if (json_is_integer(index)) return json_array_get(candidates, (size_t)json_integer_value(index));
    json_array_foreach(candidates, i, judged)
    {
        double p = json_number_value(json_object_get(judged, "p_correct"));
        if (!best || p > json_number_value(json_object_get(best, "p_correct"))) best = judged;
    }
    return best;
}

/* --- as text --- */

static void tell_finding(const json_t *finding, GString *out)
{
    const char *key;
    json_t *value;
    const json_t *clause = json_array_get(json_object_get(finding, "clauses"), 0);
    g_string_append(out, "- ");
    if (clause) agent_append(out, text_of(clause, "text"), 120);
    g_string_append(out, clause ? ": " : "");
    agent_append(out, text_of(finding, "message"), MAX_SENTENCE);
    g_string_append_printf(out, " (%s, %s)", text_of(finding, "signal"), text_of(finding, "severity"));
    json_object_foreach(json_object_get(finding, "data"), key, value)
    {
        if (!json_is_string(value)) continue;
        g_string_append_printf(out, "; %s: ", key);
        agent_append(out, json_string_value(value), 160);
    }
    g_string_append_c(out, '\n');
}

static void tell_findings(const json_t *subject, GString *out)
{
    size_t i;
    const json_t *finding, *findings = json_object_get(subject, "findings");
    if (json_array_size(findings)) g_string_append(out, "Suspect:\n");
    json_array_foreach(findings, i, finding) if (i < MAX_FINDINGS) tell_finding(finding, out);
}

static void tell_repair(const json_t *verdict, GString *out)
{
    size_t i;
    const json_t *step, *repair = json_object_get(verdict, "repair");
    if (!json_is_object(repair)) return;
    bool applied = json_is_true(json_object_get(repair, "applied"));
    g_string_append(out, applied ? "Changed:\n" : "More likely correct, but not enough to replace it:\n");
    if (!applied) append_line(out, "", text_of(repair, "sql"), MAX_PROSE);
    json_array_foreach(json_object_get(repair, "steps"), i, step)
    {
        const char *was = text_of(step, "was"), *now = text_of(step, "now");
        g_string_append_printf(out, "- %s: ", text_of(step, "clause"));
        agent_append(out, was ? was : "(nothing)", MAX_SENTENCE);
        g_string_append(out, " becomes ");
        agent_append(out, now ? now : "(nothing)", MAX_SENTENCE);
        g_string_append_c(out, '\n');
    }
    append_line(out, "Because: ", text_of(repair, "reason"), MAX_SENTENCE);
}

static void tell_questions(const json_t *verdict, GString *out)
{
    size_t i;
    const json_t *item, *asked = json_object_get(verdict, "clarification");
    append_line(out, "Question: ", text_of(asked, "question"), MAX_SENTENCE);
    json_array_foreach(json_object_get(asked, "choices"), i, item)
    {
        g_string_append_printf(out, "- answers: [\"%s=%s\"]: ", text_of(asked, "id"), text_of(item, "id"));
        agent_append(out, text_of(item, "text"), MAX_SENTENCE);
        g_string_append_c(out, '\n');
    }
    json_array_foreach(json_object_get(verdict, "questions"), i, item)
        append_line(out, "Question: ", json_string_value(item), MAX_SENTENCE);
}

static void tell_others(const json_t *verdict, const json_t *subject, GString *out)
{
    size_t i;
    const json_t *judged, *candidates = json_object_get(verdict, "candidates");
    if (json_array_size(candidates) < 2) return;
    g_string_append(out, "The other candidates:\n");
    json_array_foreach(candidates, i, judged)
    {
        const json_t *p = json_object_get(judged, "p_correct");
        if (judged == subject || i >= MAX_OTHERS) continue;
        g_string_append_printf(out, "- candidate %zu", i + 1);
        if (json_is_number(p)) g_string_append_printf(out, ", P(correct) %.2f", json_number_value(p));
        append_line(out, ": ", text_of(judged, "why") ? text_of(judged, "why") : "not judged", MAX_SENTENCE);
    }
}

static void tell_headline(const json_t *verdict, const struct row *row, GString *out)
{
    const json_t *chosen = json_object_get(verdict, "chosen"), *p = json_object_get(verdict, "p_correct");
    g_string_append(out, row->headline);
    if (json_is_integer(chosen))
        g_string_append_printf(out, ": candidate %d of %zu", (int)json_integer_value(chosen) + 1,
                               json_array_size(json_object_get(verdict, "candidates")));
    if (json_is_number(p))
        g_string_append_printf(out, ", P(correct) %.2f, validates from %.2f", json_number_value(p),
                               json_number_value(json_object_get(verdict, "threshold")));
    g_string_append_c(out, '\n');
    append_line(out, "", text_of(verdict, "message"), MAX_SENTENCE);
}

static void tell(const json_t *verdict, const struct row *row, const char *uri, GString *out)
{
    const json_t *subject = subject_of(verdict);
    const char *sql = text_of(verdict, "sql");
    tell_headline(verdict, row, out);
    if (sql) g_string_append_printf(out, "SQL: %s\n", sql); /* never truncated, because a user may run it */
    tell_repair(verdict, out);
    tell_questions(verdict, out);
    if (!is_repaired(row)) tell_findings(subject, out);
    if (row->trusted && !is_repaired(row))
        append_line(out, "What it does: ", text_of(subject, "explanation"), MAX_PROSE);
    tell_others(verdict, subject, out);
    g_string_append_printf(out, "Next: %s\nIn full: %s\n", row->next, uri);
}

/* --- as JSON --- */

static json_t *candidates_json(const json_t *verdict)
{
    size_t i;
    const json_t *judged;
    json_t *out = json_array();
    json_array_foreach(json_object_get(verdict, "candidates"), i, judged)
        json_array_append_new(out, json_pack("{s:O?, s:O?, s:O?}", "p_correct", json_object_get(judged, "p_correct"),
                                             "rows", json_object_get(json_object_get(judged, "execution"), "rows"),
                                             "why", json_object_get(judged, "why")));
    return out;
}

/* Returns the structured result for a verdict, as the schemas of the tools describe it. */
static json_t *verdict_json(const json_t *verdict, const struct row *row, const char *uri)
{
    static const char *const same[] = {"sql",   "chosen", "p_correct",     "threshold", "message",
                                       "cause", "repair", "clarification", "questions"};
    const json_t *subject = is_repaired(row) ? NULL : subject_of(verdict);
    const json_t *findings = json_object_get(subject, "findings");
    json_t *out = json_pack("{s:s, s:b, s:s, s:s, s:o, s:o, s:O?}", "status", row->status, "trusted", row->trusted,
                            "next", row->next, "verdict_uri", uri, "candidates", candidates_json(verdict), "findings",
                            findings ? json_copy((json_t *)findings) : json_array(), "explanation",
                            json_object_get(subject, "explanation"));
    for (unsigned i = 0; i < G_N_ELEMENTS(same); i++) {
        json_t *value = json_object_get(verdict, same[i]);
        if (value) json_object_set(out, same[i], value);
    }
    return out;
}

/* --- the result --- */

/* Omits messages about a database, because they may name its file, which an agent must not see. */
static void tell_failure(const char *code, const char *message, struct mcp_result *result)
{
    bool of_database = g_str_has_prefix(code, "db_");
    result->is_error = true;
    g_string_append_printf(result->text, "FAILED: the SQL could not be judged (%s). ", code);
    append_line(result->text, "", of_database ? err_meaning(err_from_name(code)) : message, MAX_SENTENCE);
    g_string_append(result->text, strcmp(code, err_name(ERR_DB_MISSING)) == 0
                                      ? "list_databases returns the names of databases."
                                  : err_class(err_from_name(code)) == ERR_CLASS_REJECT
                                      ? "Correct the error and call again; the SQL was not judged, so do not trust it."
                                      : "Call again later; the SQL was not judged, so do not trust it.");
}

static void tell_whole(const struct agent *agent, const struct mcp_call *call, const json_t *verdict, const char *bytes,
                       size_t len, struct mcp_result *result)
{
    const struct row *row = row_of(verdict);
    const char *id = text_of(verdict, "id"), *reason = text_of(verdict, "reason");
    if (!row || !id) {
        tell_failure(reason ? reason : err_name(ERR_INTERNAL), text_of(verdict, "message"), result);
        return;
    }
    char *uri = g_strconcat(AGENT_VERDICTS, id, NULL);
    recent_verdicts_put(agent->verdicts, call->owner, id, bytes, len);
    tell(verdict, row, uri, result->text);
    result->structured = verdict_json(verdict, row, uri);
    g_free(uri);
}

void agent_tell_verdict(void *ctx, const struct mcp_call *call, const char *bytes, size_t len, const struct err *err,
                        struct mcp_result *result)
{
    json_t *verdict = bytes ? json_loadb(bytes, len, 0, NULL) : NULL;
    if (verdict)
        tell_whole(ctx, call, verdict, bytes, len, result);
    else
        tell_failure(err_name(err->code), err_public_text(err), result);
    json_decref(verdict);
}
