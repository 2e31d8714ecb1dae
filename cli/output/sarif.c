/* SARIF 2.1.0: each finding of each judged candidate is a result; a candidate is an artifact named after its request
 * and its index in it.
 *
 * Columns count Unicode code points (columnKind says so), bytes stand beside them. The pieces go out one by one, so a
 * replay of any length fits in memory; that is why candidates' texts come as snippets and not as run.artifacts.
 */
#include "cli/output/caret.h"
#include "cli/output/output.h"

#include <string.h>

static const char *const invalid_sql_sentence = "The SQL does not parse, or the database engine refuses it";

static json_t *rule_json(const char *id, const char *sentence, const char *instruction, const char *family)
{
    json_t *rule = json_pack("{s:s,s:{s:s},s:{s:s}}", "id", id, "shortDescription", "text", sentence, "properties",
                             "family", family);
    if (instruction) json_object_set_new(rule, "help", json_pack("{s:s}", "text", instruction));
    return rule;
}

/* Rules: invalid_sql first, then the signals in the order of the registry. */
static json_t *rules_json(void)
{
    json_t *rules = json_array();
    json_array_append_new(rules, rule_json("invalid_sql", invalid_sql_sentence, NULL, "parse"));
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(
            rules, rule_json(all[i]->name, all[i]->sentence, all[i]->instruction, vsig_family_name(all[i]->family)));
    return rules;
}

static int rule_index(const char *name)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0) return (int)i + 1;
    return strcmp(name, "invalid_sql") == 0 ? 0 : -1;
}

static void dump(FILE *stream, json_t *json)
{
    json_dumpf(json, stream, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(json);
}

void sarif_begin(FILE *stream)
{
    fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":",
          stream);
    dump(stream, json_pack("{s:{s:s,s:s,s:o}}", "driver", "name", "assay", "semanticVersion", ASSAY_VERSION, "rules",
                           rules_json()));
    fputs(",\"columnKind\":\"unicodeCodePoints\",\"results\":[", stream);
}

static json_t *snippet(const char *text, size_t len)
{
    char *valid = g_utf8_make_valid(text, (gssize)len);
    json_t *json = json_pack("{s:s}", "text", valid);
    g_free(valid);
    return json;
}

static json_t *location_json(const char *uri, const struct msg_text *sql, const struct msg_clause *clause)
{
    unsigned line, column, end_line, end_column;
    uint32_t start = MIN(clause->start, sql->len), end = MIN(MAX(clause->end, start), sql->len);
    caret_position(sql->bytes, sql->len, start, &line, &column);
    caret_position(sql->bytes, sql->len, end, &end_line, &end_column);
    json_t *region = json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:o}", "startLine", (int)line, "startColumn", (int)column,
                               "endLine", (int)end_line, "endColumn", (int)end_column, "byteOffset", (int)start,
                               "byteLength", (int)(end - start), "snippet", snippet(sql->bytes + start, end - start));
    json_t *context = json_pack("{s:i,s:o}", "startLine", 1, "snippet", snippet(sql->bytes, sql->len));
    json_t *location = json_pack("{s:{s:{s:s},s:o,s:o}}", "physicalLocation", "artifactLocation", "uri", uri, "region",
                                 region, "contextRegion", context);
    if (clause->label) json_object_set_new(location, "message", json_pack("{s:s}", "text", clause->label));
    return location;
}

static const char *level(enum msg_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

static json_t *result_json(const char *uri, const struct msg_judged *judged, const struct msg_finding *finding)
{
    json_t *locations = json_array();
    for (uint32_t i = 0; i < finding->n_clauses; i++)
        json_array_append_new(locations, location_json(uri, &judged->sql, &finding->clauses[i]));
    if (!finding->n_clauses) {
        struct msg_clause whole = {.start = 0, .end = judged->sql.len};
        json_array_append_new(locations, location_json(uri, &judged->sql, &whole));
    }
    const char *name = finding->name ? finding->name : "invalid_sql";
    json_t *facts = json_object();
    for (uint32_t i = 0; i < finding->n_facts; i++)
        json_object_set_new(facts, finding->facts[i].key, format_text(finding->facts[i].value));
    json_t *result =
        json_pack("{s:s,s:s,s:{s:o},s:o,s:o}", "ruleId", name, "level", level(finding->severity), "message", "text",
                  format_text(finding->message ? finding->message : name), "locations", locations, "properties", facts);
    int index = rule_index(name);
    if (result && index >= 0) json_object_set_new(result, "ruleIndex", json_integer(index));
    return result;
}

void sarif_verdict(FILE *stream, const struct msg_verdict *verdict, bool *first)
{
    char *id = g_uri_escape_string(verdict->id ? verdict->id : "request", NULL, FALSE);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        char *uri = g_strdup_printf("%s/%u.sql", id, i);
        for (uint32_t k = 0; k < verdict->candidates[i].n_findings; k++) {
            json_t *result = result_json(uri, &verdict->candidates[i], &verdict->candidates[i].findings[k]);
            if (!result) continue;
            fputs(*first ? "\n" : ",\n", stream);
            dump(stream, result);
            *first = false;
        }
        g_free(uri);
    }
    g_free(id);
}

void sarif_end(FILE *stream)
{
    fputs("]}]}\n", stream);
}
