/* DESIGN: each database is opened once, even if several scopes name it, and equal entries are matched once.
 *
 * Once an entry has matched, it is not searched for in other databases of its scope. A policy for all databases of a
 * folder therefore opens few of them. The check has one deadline, and each database a shorter one.
 */
#include "worker/deny_check.h"

#include "lib/base/clock.h"
#include "lib/schema/deny_match.h"
#include "lib/schema/deny_name.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_MS = 10000, DATABASE_MS = 5000 };

/* An entry of a scope. */
struct entry {
    const struct deny_scope *scope;
    const char *text;
    bool matched, searched; /* `searched`: a readable database was searched for it */
    const char *closed;     /* name of an unreadable database; NULL if there is none */
};

struct checker {
    const struct worker_databases *databases;
    struct arena arena;
    struct entry *entries;
    uint32_t n;
    GPtrArray *of_all;   /* struct entry * of the scopes that include all databases */
    GHashTable *by_name; /* database name → GPtrArray of struct entry * */
    int64_t until_ns;
    void (*warn)(const char *text);
};

/* --- entries ------------------------------------------------------------------------------------------------------ */

static void list_under(struct checker *c, const char *name, struct entry *entry)
{
    GPtrArray *list = g_hash_table_lookup(c->by_name, name);
    if (!list) g_hash_table_insert(c->by_name, g_strdup(name), list = g_ptr_array_new());
    g_ptr_array_add(list, entry);
}

static void list_entry(struct checker *c, struct entry *entry)
{
    const char *const *names = entry->scope->databases;
    if (!names) g_ptr_array_add(c->of_all, entry);
    for (; names && *names; names++) list_under(c, *names, entry);
}

static enum err_code collect(struct checker *c, const struct deny_scope *scopes, uint32_t n, struct err *err)
{
    struct err why = {0};
    for (uint32_t i = 0; i < n; i++) c->n += scopes[i].n;
    c->entries = g_new0(struct entry, c->n + 1);
    c->n = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < scopes[i].n; k++) {
            struct entry *entry = &c->entries[c->n++];
            *entry = (struct entry){.scope = &scopes[i], .text = scopes[i].entries[k]};
            if (deny_name_check(entry->text, &why)) return err_at(err, ERR_CONFIG, &why, "%s", scopes[i].owner);
            list_entry(c, entry);
        }
    return ERR_OK;
}

/* --- one database ------------------------------------------------------------------------------------------------- */

static void add_open(GPtrArray *from, GPtrArray *to)
{
    for (guint i = 0; from && i < from->len; i++)
        if (!((struct entry *)from->pdata[i])->matched) g_ptr_array_add(to, from->pdata[i]);
}

static int64_t left_ms(const struct checker *c)
{
    return (c->until_ns - clock_now_ns()) / 1000000;
}

static enum err_code match(const struct checker *c, const char *name, const char *const *texts, uint32_t n,
                           bool *matched)
{
    char *path = NULL;
    struct db *db = NULL;
    const struct db_limits limits = {.time_ms = MIN(left_ms(c), DATABASE_MS)};
    enum err_code code = limits.time_ms > 0 ? worker_database_path(c->databases, name, &path, NULL) : ERR_DEADLINE;
    if (!code) code = db_open(path, &limits, &db, NULL);
    if (!code) code = deny_match(db, texts, n, matched, NULL);
    db_close(db);
    free(path);
    return code;
}

/* Matches the open entries against the columns of a database. Equal texts are matched once. */
static void match_entries(struct checker *c, const char *name, GPtrArray *open)
{
    GHashTable *numbers = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *texts = g_ptr_array_new();
    for (guint i = 0; i < open->len; i++) {
        const char *text = ((struct entry *)open->pdata[i])->text;
        if (g_hash_table_contains(numbers, text)) continue;
        g_hash_table_insert(numbers, (gpointer)text, GUINT_TO_POINTER(texts->len));
        g_ptr_array_add(texts, (gpointer)text);
    }
    bool *matched = g_new0(bool, texts->len);
    enum err_code code = match(c, name, (const char *const *)texts->pdata, texts->len, matched);
    for (guint i = 0; i < open->len; i++) {
        struct entry *entry = open->pdata[i];
        entry->matched = matched[GPOINTER_TO_UINT(g_hash_table_lookup(numbers, entry->text))];
        if (code)
            entry->closed = name;
        else
            entry->searched = true;
    }
    g_free(matched);
    g_ptr_array_free(texts, TRUE);
    g_hash_table_destroy(numbers);
}

static void check_database(struct checker *c, const char *name)
{
    GPtrArray *open = g_ptr_array_new();
    add_open(c->of_all, open);
    add_open(g_hash_table_lookup(c->by_name, name), open);
    if (open->len) match_entries(c, name, open);
    g_ptr_array_free(open, TRUE);
}

/* --- outcome --- */

static void report_undecided(const struct checker *c, const struct entry *entry)
{
    if (!c->warn) return;
    char *why = entry->closed ? g_strdup_printf("database '%.100s' cannot be read", entry->closed)
                              : g_strdup("none of its databases exists");
    char *text = g_strdup_printf("%s: cannot check whether denied column '%.100s' exists: %s", entry->scope->owner,
                                 entry->text, why);
    c->warn(text);
    g_free(text);
    g_free(why);
}

static enum err_code unmatched(const struct entry *entry, struct err *err)
{
    const char *const *names = entry->scope->databases;
    bool one = names && names[0] && !names[1];
    return err_set(err, ERR_CONFIG,
                   "%s: denied column '%.100s' matches no column of %s" ERR_HINT "correct the entry, or remove it",
                   entry->scope->owner, entry->text, one ? "its database" : "any of its databases");
}

static enum err_code conclude(const struct checker *c, struct err *err)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct entry *entry = &c->entries[i];
        if (entry->matched) continue;
        if (entry->searched && !entry->closed) return unmatched(entry, err);
        report_undecided(c, entry);
    }
    return ERR_OK;
}

static void free_list(gpointer list)
{
    g_ptr_array_free(list, TRUE);
}

enum err_code deny_check(const struct worker_databases *databases, const struct deny_scope *scopes, uint32_t n,
                         void (*warn)(const char *text), struct err *err)
{
    struct checker c = {.databases = databases, .warn = warn, .until_ns = clock_now_ns() + CHECK_MS * INT64_C(1000000)};
    const char *const *names = NULL;
    uint32_t n_names = 0;
    arena_init(&c.arena, 0);
    c.of_all = g_ptr_array_new();
    c.by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_list);
    enum err_code code = collect(&c, scopes, n, err);
    if (!code && c.n) code = worker_databases_names(databases, &c.arena, &names, &n_names, err);
    for (uint32_t i = 0; !code && i < n_names; i++) check_database(&c, names[i]);
    if (!code) code = conclude(&c, err);
    g_free(c.entries);
    g_ptr_array_free(c.of_all, TRUE);
    g_hash_table_destroy(c.by_name);
    arena_free(&c.arena);
    return code;
}
