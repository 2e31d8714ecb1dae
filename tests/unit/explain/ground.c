#include "tests/unit/explain/ground.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

static char *write_database(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL, *error = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        why = g_strdup(error ? error : "cannot create the database");
    sqlite3_free(error);
    sqlite3_close(db);
    return why;
}

char *ground_open(struct ground *ground, const char *sql, const char *table, const char *descriptions)
{
    *ground = (struct ground){0};
    ground->folder = g_dir_make_tmp("assay-explain-XXXXXX", NULL);
    ground->path = g_build_filename(ground->folder, "case.sqlite", NULL);
    char *why = write_database(ground->path, sql);
    if (why) return why;
    if (descriptions) {
        char *name = g_strconcat(table, ".csv", NULL);
        ground->sidecar = g_build_filename(ground->folder, name, NULL);
        g_file_set_contents(ground->sidecar, descriptions, -1, NULL);
        g_free(name);
    }
    struct err err = {0};
    const struct schema_options options = {.descriptions_dir = descriptions ? ground->folder : NULL};
    if (db_open(ground->path, NULL, &ground->db, &err) != ERR_OK ||
        schema_build(ground->db, "case", ground->path, &options, &ground->schema, &err) != ERR_OK)
        return g_strdup(err.text);
    return NULL;
}

void ground_close(struct ground *ground)
{
    if (ground->schema) schema_unref(ground->schema);
    if (ground->db) db_close(ground->db);
    if (ground->sidecar) g_remove(ground->sidecar);
    if (ground->path) g_remove(ground->path);
    if (ground->folder) g_rmdir(ground->folder);
    g_free(ground->sidecar);
    g_free(ground->path);
    g_free(ground->folder);
    *ground = (struct ground){0};
}

struct explain_source *ground_source(const struct ground *ground, struct arena *arena, const char *sql)
{
    struct explain_source *source = arena_new(arena, struct explain_source);
    struct db_result *result = arena_new(arena, struct db_result);
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK ||
        sql_bind(arena, stmt, &ground->schema->catalog, &bound) != ERR_OK)
        return NULL;
    bool runs = db_query(ground->db, arena, sql, strlen(sql), NULL, 0, 0, result, NULL) == ERR_OK;
    *source = (struct explain_source){
        sql, strlen(sql), stmt, bound, ground->schema, ground->db, runs ? result : NULL,
    };
    return source;
}

static bool is_clean(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return false;
    return g_utf8_validate(text, -1, NULL);
}

static const char *check_phrase(const struct ground *ground, const struct explain_source *source,
                                const struct explanation *e, const struct explain_phrase *phrase)
{
    if (!phrase->node || phrase->start > phrase->end || phrase->end > source->sql_len) return "a phrase has no place";
    if (!*phrase->premise && !*phrase->prose) return "a phrase says nothing";
    if (!is_clean(phrase->premise) || !is_clean(phrase->prose)) return "a phrase is no clean UTF-8";
    if (phrase->opened >= 0 && phrase->query != (uint32_t)phrase->opened) return "a phrase opens another's query";
    for (uint32_t i = 0; i < phrase->n_columns; i++)
        if (phrase->columns[i] >= ground->schema->n_columns) return "a phrase speaks of a column that is not there";
    return e->n_phrases ? NULL : "no phrases";
}

static const char *check_graph(const struct explain_graph *graph, uint32_t n_phrases)
{
    for (uint32_t i = 0; i < graph->n_edges; i++)
        if (graph->edges[i].from >= graph->n_nodes || graph->edges[i].to >= graph->n_nodes)
            return "an edge leads nowhere";
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (!graph->nodes[i].name) return "a node has no name";
        for (uint32_t k = 0; k < graph->nodes[i].n_phrases; k++)
            if (graph->nodes[i].phrases[k] >= n_phrases) return "an annotation is no phrase";
    }
    return NULL;
}

const char *ground_check(const struct ground *ground, const struct explain_source *source,
                         const struct explain_options *options, const struct explanation *e)
{
    size_t max = options && options->max_text ? options->max_text : 8192;
    if (strlen(e->premise) > max || strlen(e->prose) > max) return "the text is longer than asked for";
    if (!is_clean(e->premise) || !is_clean(e->prose)) return "the text is no clean UTF-8";
    if (e->missing && (!is_clean(e->missing) || !*e->missing)) return "`missing` is no sentence";
    if (e->cut && !e->missing) return "something is cut, and nothing says so";
    for (uint32_t i = 0; i < e->n_phrases; i++) {
        const char *wrong = check_phrase(ground, source, e, &e->phrases[i]);
        if (wrong) return wrong;
    }
    return check_graph(e->graph, e->n_phrases);
}
