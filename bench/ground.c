#include "bench/ground.h"

#include <stdio.h>

static void ground_free(gpointer data)
{
    struct ground *ground = data;
    if (ground->schema) schema_unref(ground->schema);
    if (ground->db) db_close(ground->db);
    g_free(ground);
}

GHashTable *grounds_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, ground_free);
}

struct ground *ground_of(GHashTable *grounds, const char *root, const char *name)
{
    struct ground *ground = g_hash_table_lookup(grounds, name);
    if (ground) return ground;
    ground = g_new0(struct ground, 1);
    g_hash_table_insert(grounds, g_strdup(name), ground);
    char *path = g_strdup_printf("%s/%s/%s.sqlite", root, name, name);
    struct err err = {0};
    if (db_open(path, NULL, &ground->db, &err) != ERR_OK ||
        schema_build(ground->db, name, path, NULL, &ground->schema, &err) != ERR_OK)
        fprintf(stderr, "%s: %s\n", path, err.text);
    g_free(path);
    return ground;
}
