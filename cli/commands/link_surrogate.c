/* Implements the surrogate filter (link_surrogate.h). Verdicts are read once. Each answer with a P of at least SURE is
 * bound to its schema. The tables and columns that it uses are stored by the id of the verdict. A trace is then
 * compared with the names of its answer. */
#include "cli/commands/link_surrogate.h"

#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "train/linking_export.h"

#include <glib.h>
#include <jansson.h>
#include <string.h>

enum { ARENA_BYTES = 64 << 20 };
static const double SURE = 0.5; /* an answer below this P confirms nothing */

/* Names of the tables and columns that one answer uses, as traces write them. */
struct answer {
    GHashTable *names;
};

struct surrogate {
    struct engine_config config;
    struct labeler *labeler; /* keeps the databases open */
    struct schema_cache *schemas;
    GHashTable *answers; /* id → struct answer */
};

static void answer_free(gpointer p)
{
    struct answer *answer = p;
    g_hash_table_destroy(answer->names);
    g_free(answer);
}

static struct answer *answer_of(const struct schema_index *schema, const struct linking_used *used)
{
    struct answer *answer = g_new(struct answer, 1);
    answer->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t t = 0; t < schema->n_tables; t++)
        if (used->tables[t]) g_hash_table_add(answer->names, g_strdup(schema->tables[t].name));
    for (uint32_t c = 0; c < schema->n_columns; c++)
        if (used->columns[c])
            g_hash_table_add(answer->names, g_strdup_printf("%s.%s", schema->tables[schema->columns[c]->table].name,
                                                            schema->columns[c]->name));
    return answer;
}

static enum err_code take_answer(struct surrogate *s, struct arena *arena, const char *id, const char *database,
                                 const char *sql, struct err *err)
{
    const char *path = NULL;
    struct schema_index *schema = NULL;
    struct linking_used used;
    struct db *db = labeler_db(s->labeler, database, &path, err);
    if (!db) return err->code;
    enum err_code code = schema_cache_get(s->schemas, db, database, path, &schema, err);
    if (code) return code;
    code = linking_used_by(arena, schema, sql, &used, err);
    if (!code) g_hash_table_insert(s->answers, g_strdup(id), answer_of(schema, &used));
    schema_unref(schema);
    return code;
}

/* Stores the names of the verdict's answer. A verdict without an answer, or with a P below SURE, confirms nothing. */
static enum err_code take_verdict(struct surrogate *s, struct arena *arena, const struct lines *line, struct err *err)
{
    json_error_t where;
    json_t *json = line->too_long ? NULL : json_loadb(line->text, line->len, 0, &where);
    const char *id = json_string_value(json_object_get(json, "id")),
               *db = json_string_value(json_object_get(json, "db")),
               *sql = json_string_value(json_object_get(json, "sql"));
    bool sure = json_number_value(json_object_get(json, "p_correct")) >= SURE;
    enum err_code code = ERR_OK;
    if (!id || !db)
        code = err_set(err, ERR_MALFORMED, "not a verdict");
    else if (sql && sure)
        code = take_answer(s, arena, id, db, sql, err);
    json_decref(json);
    return code;
}

static enum err_code read_verdicts(struct surrogate *s, const char *path, struct err *err)
{
    struct arena arena;
    struct lines lines;
    int more;
    enum err_code code = lines_open(path, &lines, err);
    if (code) return code;
    arena_init(&arena, ARENA_BYTES);
    while ((more = lines_next(&lines)) > 0) {
        struct err why = {0};
        arena_reset(&arena);
        if (take_verdict(s, &arena, &lines, &why))
            complain("%s:%llu: skipped: %s", path, (unsigned long long)lines.number, why.text);
    }
    if (more < 0) code = err_set(err, ERR_MALFORMED, "%s: %s", path, lines_error(&lines));
    arena_free(&arena);
    lines_close(&lines);
    return code;
}

enum err_code surrogate_open(struct cli *cli, const char *verdicts, struct surrogate **out, struct err *err)
{
    struct surrogate *s = g_new0(struct surrogate, 1);
    *out = NULL;
    engine_settings(cli, &s->config);
    s->answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, answer_free);
    s->schemas = engine_settings_schemas(cli, &s->config, err);
    enum err_code code = s->schemas ? ERR_OK : err->code;
    if (!code) {
        s->labeler = labeler_new(&s->config.databases);
        code = read_verdicts(s, verdicts, err);
    }
    if (code)
        surrogate_close(s);
    else
        *out = s;
    return code;
}

void surrogate_close(struct surrogate *s)
{
    if (!s) return;
    schema_cache_free(s->schemas);
    if (s->labeler) labeler_free(s->labeler);
    g_hash_table_destroy(s->answers);
    g_free(s);
}

/* --- the filter --- */

/* True if the tokens before `token` already contain all candidate names that the answer uses. */
static bool is_complete(const struct answer *answer, const struct trace *trace, uint32_t token)
{
    struct arena arena;
    uint32_t *names = NULL;
    arena_init(&arena, ARENA_BYTES);
    uint32_t *ids = arena_new_array(&arena, token + 1, uint32_t);
    for (uint32_t i = 0; ids && i < token; i++) ids[i] = trace->tokens[i].gold_id;
    int n = ids ? trace_names(&arena, trace, ids, token, &names) : -1;
    bool complete = n >= 0;
    for (uint32_t c = 0; complete && c < trace->n_candidates; c++) {
        bool written = false;
        for (int i = 0; i < n; i++) written |= names[i] == c;
        complete = written || !g_hash_table_contains(answer->names, trace->candidates[c].name);
    }
    arena_free(&arena);
    return complete;
}

static bool confirms(void *data, const struct trace *trace, uint32_t token, int candidate)
{
    const struct surrogate *s = data;
    const struct answer *answer = g_hash_table_lookup(s->answers, trace->id);
    if (!answer) return false;
    if (candidate < 0) return is_complete(answer, trace, token);
    return g_hash_table_contains(answer->names, trace->candidates[candidate].name);
}

struct link_surrogate surrogate_of(struct surrogate *surrogate)
{
    return (struct link_surrogate){confirms, surrogate};
}
