/* DESIGN: from the name of a database to its location and policy.
 *
 * The name comes from a message, so it may only select among the catalogue's entries and the files under the operator's
 * roots. A name that could leave a root is refused. The stricter of the entry's and the request's policies applies, so
 * no request can relax the operator's.
 */
#include "worker/worker.h"

#include "proto/message/msg.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_safe(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > MSG_MAX_NAME || name[0] == '.') return false;
    for (const char *c = name; *c; c++)
        if (*c == '/' || *c == '\\' || g_ascii_iscntrl(*c)) return false;
    return true;
}

/* Sets *path to the candidate if that file exists; otherwise frees the candidate. Returns true if it exists. */
static bool try_path(char *candidate, char **path)
{
    if (candidate && access(candidate, F_OK) == 0) {
        *path = candidate;
        return true;
    }
    free(candidate);
    return false;
}

static char *join(const char *format, const char *root, const char *name)
{
    char *path = NULL;
    int len = strcmp(format, "dir") == 0 ? asprintf(&path, "%s/%s/%s.sqlite", root, name, name)
                                         : asprintf(&path, "%s/%s.sqlite", root, name);
    return len < 0 ? NULL : path;
}

const struct worker_database *worker_database_find(const struct worker_databases *databases, const char *name)
{
    for (uint32_t i = 0; i < databases->n_files; i++)
        if (strcmp(databases->files[i].name, name) == 0) return &databases->files[i];
    return NULL;
}

/* --- policies --- */

/* An unset exposure means the default, which shows values. */
enum msg_expose worker_expose(const struct worker_databases *databases, const char *name, enum msg_expose requested)
{
    const struct worker_database *entry = worker_database_find(databases, name);
    if (!entry || entry->expose == MSG_EXPOSE_UNSET) return requested;
    if (requested == MSG_EXPOSE_UNSET) requested = MSG_EXPOSE_VALUES;
    return MIN(requested, entry->expose);
}

bool worker_hides_denied(const struct worker_databases *databases, const char *name)
{
    const struct worker_database *entry = worker_database_find(databases, name);
    enum worker_deny own = entry ? entry->deny_mode : WORKER_DENY_UNSET;
    return (own ? own : databases->deny_mode) == WORKER_DENY_HIDE;
}

/* Joins the denied columns of all databases, of the entry and of the request, in the arena. `entry` and `task` may be
 * NULL. */
static const char *const *join_denied(const struct worker_databases *databases, const struct worker_database *entry,
                                      const struct msg_task *task, struct arena *arena, uint32_t *n)
{
    uint32_t own = entry ? entry->n_deny_columns : 0, requested = task ? task->n_deny_columns : 0;
    const char **all = arena_new_array(arena, databases->n_deny_columns + own + requested + 1, const char *);
    *n = databases->n_deny_columns + own + requested;
    if (!all) return NULL;
    *n = 0;
    for (uint32_t i = 0; i < databases->n_deny_columns; i++) all[(*n)++] = databases->deny_columns[i];
    for (uint32_t i = 0; i < own; i++) all[(*n)++] = entry->deny_columns[i];
    for (uint32_t i = 0; i < requested; i++) all[(*n)++] = task->deny_columns[i];
    return all;
}

enum err_code worker_policy(const struct worker_databases *databases, struct arena *arena, struct msg_task *task,
                            struct err *err)
{
    const struct worker_database *entry = worker_database_find(databases, task->db);
    task->expose = worker_expose(databases, task->db, task->expose);
    if (!databases->n_deny_columns && !(entry && entry->n_deny_columns)) return ERR_OK;
    uint32_t n;
    const char *const *denied = join_denied(databases, entry, task, arena, &n);
    if (!denied) return err_set(err, ERR_LIMIT_MEMORY, "the task exceeds its memory limit");
    task->deny_columns = denied;
    task->n_deny_columns = n;
    return ERR_OK;
}

enum err_code worker_databases_apply(const struct worker_databases *databases, struct schema_cache *schemas,
                                     const struct schema_options *base, struct arena *arena, struct err *err)
{
    for (uint32_t i = 0; i < databases->n_files; i++) {
        const struct worker_database *entry = &databases->files[i];
        struct schema_options options = base ? *base : (struct schema_options){0};
        if (entry->descriptions) options.descriptions_dir = entry->descriptions;
        options.keep_here = entry->expose == MSG_EXPOSE_NONE;
        options.deny_hides = worker_hides_denied(databases, entry->name);
        options.deny_columns = entry->deny_columns;
        options.n_deny_columns = entry->n_deny_columns;
        if (databases->n_deny_columns)
            options.deny_columns = join_denied(databases, entry, NULL, arena, &options.n_deny_columns);
        if (options.n_deny_columns && !options.deny_columns)
            return err_set(err, ERR_NOMEM, "no memory for the denied columns");
        schema_cache_options_for(schemas, entry->name, &options);
    }
    return ERR_OK;
}

enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err)
{
    *path = NULL;
    for (uint32_t i = 0; i < databases->n_files; i++)
        if (strcmp(databases->files[i].name, name) == 0)
            return (*path = strdup(databases->files[i].path)) ? ERR_OK
                                                              : err_set(err, ERR_NOMEM, "no memory for a path");
    if (!is_safe(name))
        return err_set(err, ERR_DB_MISSING,
                       "invalid database name: expected 1 to %d bytes without slash, control character or leading dot",
                       MSG_MAX_NAME);
    for (uint32_t i = 0; i < databases->n_roots; i++)
        if (try_path(join("dir", databases->roots[i], name), path) ||
            try_path(join("file", databases->roots[i], name), path))
            return ERR_OK;
    return err_set(err, ERR_DB_MISSING, "database '%.100s' not found under %s", name,
                   databases->n_roots ? databases->roots[0] : "any root: none is configured");
}

/* --- names --- */

/* Returns the name of the database that an entry of a root's folder belongs to, or NULL. Free with g_free. */
static char *name_under(const char *root, const char *entry)
{
    static const char suffix[] = ".sqlite";
    char *name =
        g_str_has_suffix(entry, suffix) ? g_strndup(entry, strlen(entry) - (sizeof suffix - 1)) : g_strdup(entry);
    char *path = NULL;
    bool there = is_safe(name) && g_utf8_validate(name, -1, NULL) &&
                 (try_path(join("dir", root, name), &path) || try_path(join("file", root, name), &path));
    free(path);
    if (there) return name;
    g_free(name);
    return NULL;
}

static void add_names_under(const char *root, GTree *names)
{
    GDir *folder = g_dir_open(root, 0, NULL);
    const char *entry;
    while (folder && g_tree_nnodes(names) < WORKER_MAX_NAMES && (entry = g_dir_read_name(folder))) {
        char *name = name_under(root, entry);
        if (name) g_tree_insert(names, name, NULL);
    }
    if (folder) g_dir_close(folder);
}

static int by_name(const void *a, const void *b, void *unused)
{
    (void)unused;
    return strcmp(a, b);
}

struct name_list {
    struct arena *arena;
    const char **items;
    uint32_t n;
};

static gboolean copy_name(void *name, void *unused, void *list)
{
    struct name_list *names = list;
    (void)unused;
    names->items[names->n] = arena_strdup(names->arena, name);
    return !names->items[names->n++]; /* TRUE ends the traversal */
}

enum err_code worker_databases_names(const struct worker_databases *databases, struct arena *arena,
                                     const char *const **names, uint32_t *n, struct err *err)
{
    GTree *sorted = g_tree_new_full(by_name, NULL, g_free, NULL);
    for (uint32_t i = 0; i < databases->n_files && i < WORKER_MAX_NAMES; i++)
        g_tree_insert(sorted, g_strdup(databases->files[i].name), NULL);
    for (uint32_t i = 0; i < databases->n_roots; i++) add_names_under(databases->roots[i], sorted);
    struct name_list list = {arena, arena_new_array(arena, (size_t)g_tree_nnodes(sorted) + 1, const char *), 0};
    if (list.items) g_tree_foreach(sorted, copy_name, &list);
    g_tree_destroy(sorted);
    if (!list.items || (list.n && !list.items[list.n - 1]))
        return err_set(err, ERR_LIMIT_MEMORY, "no memory for the names of the databases");
    *names = list.items;
    *n = list.n;
    return ERR_OK;
}
