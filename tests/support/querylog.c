#include "tests/support/querylog.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

static const struct {
    const char *folder, *name;
} LOGS[] = {{"spider", "train.gold"},
            {"spider", "train.picard"},
            {"spider", "dev.resdsql"},
            {"spider", "dev.chatgpt"},
            {"bird-superhero", "superhero"}};

static void free_catalog(void *c)
{
    catalog_sqlite_free(c);
}

static struct catalog_sqlite *catalog_of(GHashTable *open, const char *folder, const char *db)
{
    char *path = g_strdup_printf("%s/%s/database/%s/%s.sqlite", SHARED_DATA, folder, db, db);
    void *c = NULL;
    if (!g_hash_table_lookup_extended(open, path, NULL, &c)) {
        c = catalog_sqlite_open(path);
        g_hash_table_insert(open, g_strdup(path), c);
    }
    g_free(path);
    return c;
}

static bool read_line(json_t *json, GPtrArray *candidates, struct querylog_line *line)
{
    size_t i;
    json_t *candidate;
    line->id = json_string_value(json_object_get(json, "id"));
    line->db = json_string_value(json_object_get(json, "db"));
    line->gold = json_string_value(json_object_get(json, "gold"));
    g_ptr_array_set_size(candidates, 0);
    json_array_foreach(json_object_get(json, "candidates"), i, candidate)
    {
        json_t *sql = json_is_string(candidate) ? candidate : json_object_get(candidate, "sql");
        if (json_is_string(sql)) g_ptr_array_add(candidates, (void *)(uintptr_t)json_string_value(sql));
    }
    line->candidates = (const char *const *)candidates->pdata;
    line->n_candidates = candidates->len;
    return line->db != NULL;
}

size_t querylog_each(const char *which, void (*each)(const struct querylog_line *line, void *self), void *self)
{
    GHashTable *open = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_catalog);
    GPtrArray *candidates = g_ptr_array_new();
    size_t lines = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(LOGS); i++) {
        if (which && !g_str_has_prefix(LOGS[i].name, which)) continue;
        char *path = g_strdup_printf("%s/%s/logs/%s.jsonl", SHARED_DATA, LOGS[i].folder, LOGS[i].name);
        FILE *file = fopen(path, "r");
        char *text = NULL;
        size_t size = 0;
        while (file && getline(&text, &size, file) > 0) {
            json_t *json = json_loads(text, 0, NULL);
            struct querylog_line line = {.log = LOGS[i].name};
            if (json && read_line(json, candidates, &line) &&
                (line.catalog = catalog_of(open, LOGS[i].folder, line.db))) {
                each(&line, self);
                lines++;
            }
            json_decref(json);
        }
        free(text);
        if (file) fclose(file);
        g_free(path);
    }
    g_ptr_array_free(candidates, TRUE);
    g_hash_table_destroy(open);
    return lines;
}
