/* Writes SARIF 2.1.0. Each finding of each judged candidate is a result. A candidate is an artifact named after its
 * request and its index in it. The positions of a query from a file refer to that file. If the query of a file does not
 * validate, one further result reports this. Users who check files need it even if no signal fires.
 *
 * Columns count Unicode code points (columnKind); byte offsets are included too. Parts are written one by one, so a
 * replay of any length fits in memory. Therefore the texts of candidates are snippets in the results instead of entries
 * of run.artifacts.
 */
#include "cli/output/output.h"

#include <string.h>

#define NOT_VALIDATED "not_validated"

/* Rules in addition to the signals. */
static const char *const invalid_sql_sentence = "The SQL does not parse, or the database engine refuses it";
static const char *const not_validated_sentence = "The query did not validate, or could not be judged";

static json_t *rule_json(const char *id, const char *sentence, const char *instruction, const char *family)
{
    json_t *rule = json_pack("{s:s,s:{s:s},s:{s:s}}", "id", id, "shortDescription", "text", sentence, "properties",
                             "family", family);
    if (instruction) json_object_set_new(rule, "help", json_pack("{s:s}", "text", instruction));
    return rule;
}

/* Returns the rules: invalid_sql, then the signals in registry order, then not_validated. */
static json_t *rules_json(void)
{
    json_t *rules = json_array();
    json_array_append_new(rules, rule_json("invalid_sql", invalid_sql_sentence, NULL, "parse"));
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(
            rules, rule_json(all[i]->name, all[i]->sentence, all[i]->instruction, vsig_family_name(all[i]->family)));
    json_array_append_new(rules, rule_json(NOT_VALIDATED, not_validated_sentence, NULL, "verdict"));
    return rules;
}

static int rule_index(const char *name)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0) return (int)i + 1;
    if (strcmp(name, NOT_VALIDATED) == 0) return (int)n + 1;
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

struct place {
    const char *uri;
    const struct sql_file *file; /* file of the query; NULL if the candidate itself is the artifact */
};

static json_t *location_json(const struct place *place, const struct msg_text *sql, const struct msg_clause *clause)
{
    struct region region = region_of(place->file, sql, clause);
    uint32_t before = place->file ? place->file->start : 0;
    json_t *of_clause =
        json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:o}", "startLine", (int)region.line, "startColumn", (int)region.column,
                  "endLine", (int)region.end_line, "endColumn", (int)region.end_column, "byteOffset", (int)region.start,
                  "byteLength", (int)(region.end - region.start), "snippet",
                  snippet(sql->bytes + (region.start - before), region.end - region.start));
    json_t *context = json_pack("{s:i,s:o}", "startLine", place->file ? (int)place->file->line : 1, "snippet",
                                snippet(sql->bytes, sql->len));
    json_t *location = json_pack("{s:{s:{s:s},s:o,s:o}}", "physicalLocation", "artifactLocation", "uri", place->uri,
                                 "region", of_clause, "contextRegion", context);
    if (clause && clause->label) json_object_set_new(location, "message", json_pack("{s:s}", "text", clause->label));
    return location;
}

static const char *level(enum msg_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

static json_t *result_json(const char *rule, enum msg_severity severity, const char *message, json_t *locations,
                           json_t *facts)
{
    json_t *result = json_pack("{s:s,s:s,s:{s:o},s:o,s:o}", "ruleId", rule, "level", level(severity), "message", "text",
                               format_text(message), "locations", locations, "properties", facts);
    int index = rule_index(rule);
    if (result && index >= 0) json_object_set_new(result, "ruleIndex", json_integer(index));
    return result;
}

static json_t *finding_json(const struct place *place, const struct msg_judged *judged,
                            const struct msg_finding *finding)
{
    json_t *locations = json_array();
    for (uint32_t i = 0; i < finding->n_clauses; i++)
        json_array_append_new(locations, location_json(place, &judged->sql, &finding->clauses[i]));
    if (!finding->n_clauses) json_array_append_new(locations, location_json(place, &judged->sql, NULL));
    const char *name = finding_name(finding);
    json_t *facts = json_object();
    for (uint32_t i = 0; i < finding->n_facts; i++)
        json_object_set_new(facts, finding->facts[i].key, format_text(finding->facts[i].value));
    return result_json(name, finding->severity, finding->message ? finding->message : name, locations, facts);
}

/* Returns the result that reports that a file's query does not validate. Its position is the first line of the
 * query. */
static json_t *not_validated_json(const struct place *place, const struct msg_verdict *verdict)
{
    char *why = verdict_sentence(verdict);
    json_t *location = json_pack("{s:{s:{s:s},s:{s:i}}}", "physicalLocation", "artifactLocation", "uri", place->uri,
                                 "region", "startLine", (int)place->file->line);
    json_t *result = result_json(NOT_VALIDATED, MSG_ERROR, why, json_pack("[o]", location), json_object());
    g_free(why);
    return result;
}

static void write_result(FILE *stream, json_t *result, bool *first)
{
    if (!result) return;
    fputs(*first ? "\n" : ",\n", stream);
    dump(stream, result);
    *first = false;
}

void sarif_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file, bool *first)
{
    char *id = g_uri_escape_string(verdict->id ? verdict->id : "request", NULL, FALSE);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        char *uri = file ? region_uri(file) : g_strdup_printf("%s/%u.sql", id, i);
        const struct place place = {uri, file};
        for (uint32_t k = 0; k < verdict->candidates[i].n_findings; k++)
            write_result(stream, finding_json(&place, &verdict->candidates[i], &verdict->candidates[i].findings[k]),
                         first);
        g_free(uri);
    }
    if (file && !verdict_holds(verdict, file)) {
        char *uri = region_uri(file);
        write_result(stream, not_validated_json(&(struct place){uri, file}, verdict), first);
        g_free(uri);
    }
    g_free(id);
}

void sarif_end(FILE *stream)
{
    fputs("]}]}\n", stream);
}
