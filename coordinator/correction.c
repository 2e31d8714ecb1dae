/* The input of a corrector: the report of SQLens §4.4 as one JSON object. In JSON, its texts cannot be mistaken for
 * instructions. */
#include "coordinator/internal.h"

#include <jansson.h>
#include <stdlib.h>

enum { MAX_FINDINGS = 4, MAX_PLACES = 8 };

/* Returns a JSON string, or NULL if the text is missing, empty or invalid UTF-8. */
static json_t *text(const char *value)
{
    return value && *value ? json_string(value) : NULL;
}

static json_t *finding_json(const struct msg_finding *finding)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id)finding->signal);
    json_t *json = json_object(), *places = json_array();
    for (uint32_t i = 0; i < finding->n_clauses && i < MAX_PLACES; i++)
        json_array_append_new(places, text(finding->clauses[i].text));
    json_object_set_new(json, "what", text(finding->message));
    json_object_set_new(json, "where", places);
    json_object_set_new(json, "do", text(def ? def->instruction : NULL));
    return json;
}

int correction_select(const struct request *request)
{
    const struct correcting *correcting = &request->repair.correcting;
    const struct msg_judged *judged = &request->judged[correcting->current];
    const uint8_t *rank = request->core->config.models->critical;
    int best = -1;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        int signal = (int)judged->findings[i].signal;
        /* invalid SQL is reported separately, as "error" */
        if (signal == MSG_INVALID_SQL || signal >= VSIG_ID_END) continue;
        if (correcting->told >> signal & 1) continue;
        if (best < 0 || rank[signal] < rank[best]) best = signal;
    }
    return best;
}

static json_t *findings_json(const struct msg_judged *judged, int signal)
{
    json_t *findings = json_array();
    for (uint32_t i = 0; i < judged->n_findings && json_array_size(findings) < MAX_FINDINGS; i++)
        if ((int)judged->findings[i].signal == signal)
            json_array_append_new(findings, finding_json(&judged->findings[i]));
    return findings;
}

static json_t *tried_json(const struct correcting *correcting)
{
    json_t *json = correcting->tried ? json_object() : NULL;
    if (json) json_object_set_new(json, "sql", text(correcting->tried));
    if (json) json_object_set_new(json, "error", text(correcting->tried_why));
    return json;
}

const char *correction_data(struct request *request, int signal)
{
    const struct correcting *correcting = &request->repair.correcting;
    const struct msg_judged *judged = &request->judged[correcting->current];
    json_t *json = json_object();
    json_object_set_new(json, "question", text(request->message->question));
    json_object_set_new(json, "evidence", text(request->message->evidence));
    json_object_set_new(json, "schema", text(request->repair.proposed->schema));
    json_object_set_new(json, "sql", json_stringn(judged->sql.bytes, judged->sql.len));
    if (isnan(correcting->p_current))
        json_object_set_new(json, "error", text(why_invalid(request, correcting->current)));
    json_object_set_new(json, "findings", findings_json(judged, signal));
    json_object_set_new(json, "tried", tried_json(correcting));
    bool whole = json_object_get(json, "question") && json_object_get(json, "sql") && json_object_get(json, "schema");
    char *dumped = whole ? json_dumps(json, JSON_COMPACT) : NULL;
    const char *out = dumped ? arena_strdup(&request->arena, dumped) : NULL;
    free(dumped);
    json_decref(json);
    return out;
}
