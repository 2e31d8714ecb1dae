/* What a corrector is told: the report of SQLens §4.4 as data, one object that nothing in it can leave. */
#include "coordinator/internal.h"

#include <jansson.h>
#include <stdlib.h>

enum { MAX_FINDINGS = 16, MAX_PLACES = 8 };

/* What a person or a checker wrote; NULL: nothing, or no UTF-8. */
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

const char *correction_data(struct request *request, uint32_t index, const char *schema)
{
    const struct msg_judged *judged = &request->judged[index];
    json_t *json = json_object(), *findings = json_array();
    for (uint32_t i = 0; i < judged->n_findings && i < MAX_FINDINGS; i++)
        json_array_append_new(findings, finding_json(&judged->findings[i]));
    json_object_set_new(json, "question", text(request->message->question));
    json_object_set_new(json, "evidence", text(request->message->evidence));
    json_object_set_new(json, "schema", text(schema));
    json_object_set_new(json, "sql", json_stringn(judged->sql.bytes, judged->sql.len));
    json_object_set_new(json, "findings", findings);
    bool whole = json_object_get(json, "question") && json_object_get(json, "sql") && json_object_get(json, "schema");
    char *dumped = whole ? json_dumps(json, JSON_COMPACT) : NULL;
    const char *out = dumped ? arena_strdup(&request->arena, dumped) : NULL;
    free(dumped);
    json_decref(json);
    return out;
}
