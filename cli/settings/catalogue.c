/* Reads the section `databases` (catalogue.h). The option tables read entries into structs, which are checked when they
 * are complete. The function catalogue_open reads passwords and builds the connection strings once. catalogue_pick and
 * catalogue_restrict combine the policies of an entry and the settings; the stricter rule applies. */
#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"

#include "lib/base/bom.h"
#include "lib/schema/deny_name.h"
#include "proto/message/msg.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SECRET = 4096 };

#define AT(field) .offset = offsetof(struct catalogue_entry, field)

const struct option_row catalogue_rows[] = {
    {"path", 0, OPT_TEXT, "FILE|DSN", AT(path),
     .sentence = "SQLite file, or connection string of PostgreSQL or MariaDB without a password"},
    {"password-file", 0, OPT_TEXT, "FILE", AT(password_file), .sentence = "file whose first line is the password"},
    {"password-variable", 0, OPT_TEXT, "NAME", AT(password_variable),
     .sentence = "environment variable that holds the password"},
    {"descriptions", 0, OPT_TEXT, "DIR", AT(descriptions),
     .sentence = "directory with a TABLE.csv file of descriptions for each table; without it, the directory "
                 "database_description beside the database"},
    {"expose", 0, OPT_CHOICE, "WHAT", AT(expose), NULL, "none|values|rows",
     .sentence = "maximum data that verdicts of this database may show, whatever a request allows; none: its schema "
                 "index is not stored in Redis either; without it, only the request decides"},
    {"deny-columns", 0, OPT_LIST, "COLUMN", AT(deny_columns),
     .sentence = "columns that no statement may read and no schema index contains, as [schema.]table.column, column or "
                 "table.*, quoted as in SQL",
     .check = deny_name_check},
    {"deny-mode", 0, OPT_CHOICE, "MODE", AT(deny_mode), NULL, "refuse|hide",
     .sentence = "refuse: do not run statements that read a denied column; hide: run the statements and hide the "
                 "values of the column (no security boundary); without it, judge.deny_mode applies"},
    {"max-statements", 0, OPT_INT, "N", AT(max_statements), "0", .min = 0, .max = 100000,
     .sentence = "maximum concurrent statements of all processes together, counted in Redis; 0 means no limit"},
    {"max-cost", 0, OPT_REAL, "COST", AT(max_cost), "0", .min = 0, .max = 1e15,
     .sentence =
         "maximum cost that EXPLAIN estimates for a statement; a statement above it is not run; PostgreSQL only; 0: no "
         "limit"},
    {"time-ms", 0, OPT_INT, "MS", AT(time_ms), "0", .min = 0, .max = 3600000,
     .sentence = "time limit of one statement; 0: database.time_ms applies"},
    {"max-rows", 0, OPT_INT, "N", AT(max_rows), "0", .min = 0, .max = 10000000,
     .sentence = "maximum rows fetched from one statement; 0: database.max_rows applies"},
    {"max-bytes", 0, OPT_INT, "BYTES", AT(max_bytes), "0", .min = 0, .max = 4294967296.0,
     .sentence = "maximum bytes fetched from one statement; 0: database.max_bytes applies"},
    {NULL}};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const struct option_row *row_of(const char *key)
{
    for (const struct option_row *row = catalogue_rows; row->name; row++) {
        char own[64];
        option_key(row, own, sizeof own);
        if (strcmp(own, key) == 0) return row;
    }
    return NULL;
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > MSG_MAX_NAME) return false;
    for (const char *c = name; *c; c++)
        if (g_ascii_iscntrl(*c)) return false;
    return g_utf8_validate(name, -1, NULL);
}

static struct catalogue_entry **place_of(struct catalogue *catalogue, const char *name)
{
    for (uint32_t i = 0; i < catalogue->n; i++)
        if (strcmp(catalogue->entries[i]->name, name) == 0) return &catalogue->entries[i];
    return catalogue->n < CATALOGUE_MAX ? &catalogue->entries[catalogue->n++] : NULL;
}

static enum err_code set_defaults(struct cli *cli, struct catalogue_entry *entry, struct err *err)
{
    enum err_code code = ERR_OK;
    for (const struct option_row *row = catalogue_rows; row->name && !code; row++)
        if (row->fallback) code = option_set(&cli->arena, row, row->fallback, false, entry, err);
    return code;
}

struct catalogue_entry *catalogue_add(struct cli *cli, const char *name, const char *origin, struct err *err)
{
    if (!is_name(name)) {
        err_set(err, ERR_CONFIG, "the name of a database must have 1 to %d bytes", MSG_MAX_NAME);
        return NULL;
    }
    if (!cli->catalogue) cli->catalogue = arena_new(&cli->arena, struct catalogue);
    struct catalogue_entry *entry = arena_new(&cli->arena, struct catalogue_entry);
    struct catalogue_entry **place = cli->catalogue && entry ? place_of(cli->catalogue, name) : NULL;
    if (!place) {
        err_set(err, ERR_CONFIG, "more than %d databases", CATALOGUE_MAX);
        return NULL;
    }
    *entry = (struct catalogue_entry){.name = arena_strdup(&cli->arena, name), .origin = origin};
    if (!entry->name || set_defaults(cli, entry, err)) entry->name = "";
    return *place = entry;
}

static enum err_code unknown_key(const char *key, struct err *err)
{
    GString *known = g_string_new(NULL);
    for (const struct option_row *row = catalogue_rows; row->name; row++) {
        char own[64];
        option_key(row, own, sizeof own);
        g_string_append_printf(known, "%s%s", known->len ? ", " : "", own);
    }
    err_set(err, ERR_CONFIG, "unknown setting '%.60s' of a database; known: %s", key, known->str);
    g_string_free(known, TRUE);
    return ERR_CONFIG;
}

enum err_code catalogue_set(struct cli *cli, struct catalogue_entry *entry, const char *key, const char *text,
                            bool append, struct err *err)
{
    const struct option_row *row = row_of(key);
    return row ? option_set(&cli->arena, row, text, append, entry, err) : unknown_key(key, err);
}

enum err_code catalogue_check(const struct catalogue_entry *entry, struct err *err)
{
    const char *name = entry->name;
    if (!entry->path || !*entry->path) return err_set(err, ERR_CONFIG, "database %s: path is missing", name);
    if (db_path_has_secret(entry->path)) /* the message omits the connection string, because it may contain a secret */
        return err_set(err, ERR_CONFIG,
                       "database %s: the connection string is malformed or contains a password" ERR_HINT
                       "use password_file or password_variable",
                       name);
    bool has_password = entry->password_file || entry->password_variable;
    if (entry->password_file && entry->password_variable)
        return err_set(err, ERR_CONFIG, "database %s: password_file and password_variable cannot be combined", name);
    if (db_is_file(entry->path) && has_password)
        return err_set(err, ERR_CONFIG, "database %s: a SQLite file takes no password_file or password_variable", name);
    if (!db_knows_cost(entry->path) && entry->max_cost > 0)
        return err_set(err, ERR_CONFIG,
                       "database %s: max_cost is supported for PostgreSQL only" ERR_HINT
                       "limit SQLite and MariaDB with time_ms",
                       name);
    return ERR_OK;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static enum err_code read_file(const struct catalogue_entry *entry, char **out, struct err *err)
{
    gsize len = 0;
    char *text = NULL;
    if (!g_file_get_contents(entry->password_file, &text, &len, NULL) || len > MAX_SECRET) {
        g_free(text);
        return err_set(err, ERR_CONFIG, "database %s: password file %.200s cannot be read or is too long", entry->name,
                       entry->password_file);
    }
    bom_strip(text, len);
    text[strcspn(text, "\r\n")] = '\0';
    *out = text;
    return ERR_OK;
}

/* Reads the entry's password. *out is NULL if it has none. */
static enum err_code read_password(const struct catalogue_entry *entry, char **out, struct err *err)
{
    *out = NULL;
    if (entry->password_file) return read_file(entry, out, err);
    if (!entry->password_variable) return ERR_OK;
    const char *value = getenv(entry->password_variable);
    if (!value)
        return err_set(err, ERR_CONFIG, "database %s: password variable %.80s is not set", entry->name,
                       entry->password_variable);
    *out = g_strdup(value);
    return ERR_OK;
}

static enum err_code path_of(struct cli *cli, const struct catalogue_entry *entry, const char **path, struct err *err)
{
    char *password;
    *path = entry->path;
    enum err_code code = read_password(entry, &password, err);
    if (code || !password) return code;
    char *whole = db_path_with_password(entry->path, password);
    *path = arena_strdup(&cli->arena, whole);
    explicit_bzero(whole, strlen(whole));
    explicit_bzero(password, strlen(password));
    g_free(whole);
    g_free(password);
    return *path ? ERR_OK : err_set(err, ERR_NOMEM, "too many settings");
}

/* Returns the mode with that name; the unset mode for NULL. */
static enum worker_deny deny_mode_of(const char *name)
{
    if (!name) return WORKER_DENY_UNSET;
    return strcmp(name, "hide") == 0 ? WORKER_DENY_HIDE : WORKER_DENY_REFUSE;
}

static enum err_code open_entry(struct cli *cli, const struct catalogue_entry *entry, struct worker_database *out,
                                struct err *err)
{
    int expose = entry->expose ? msg_expose_by_name(entry->expose) : 0;
    *out = (struct worker_database){
        .name = entry->name,
        .descriptions = entry->descriptions,
        .expose = expose > 0 ? (enum msg_expose)expose : MSG_EXPOSE_UNSET,
        .deny_columns = entry->deny_columns.items,
        .n_deny_columns = entry->deny_columns.n,
        .deny_mode = deny_mode_of(entry->deny_mode),
        .max_statements = (uint32_t)entry->max_statements,
        .limits = {.time_ms = entry->time_ms,
                   .max_rows = (uint32_t)entry->max_rows,
                   .max_bytes = (uint64_t)entry->max_bytes,
                   .max_cost = entry->max_cost},
    };
    return path_of(cli, entry, &out->path, err);
}

enum err_code catalogue_open(struct cli *cli, struct err *err)
{
    struct catalogue *catalogue = cli->catalogue;
    if (!catalogue || catalogue->opened) return ERR_OK;
    struct worker_database *opened = arena_new_array(&cli->arena, catalogue->n, struct worker_database);
    if (!opened) return err_set(err, ERR_NOMEM, "too many settings");
    for (uint32_t i = 0; i < catalogue->n; i++) {
        enum err_code code = open_entry(cli, catalogue->entries[i], &opened[i], err);
        if (code) return code;
    }
    catalogue->opened = opened;
    return ERR_OK;
}

struct worker_databases catalogue_databases(const struct cli *cli)
{
    const struct string_list *roots = &cli->settings.database.root;
    struct worker_databases databases = {
        .roots = roots->items, .n_roots = roots->n, .deny_mode = deny_mode_of(cli->settings.judge.deny_mode)};
    if (cli->catalogue && cli->catalogue->opened) {
        databases.files = cli->catalogue->opened;
        databases.n_files = cli->catalogue->n;
    }
    return databases;
}

/* Returns the limits of the settings. A limit that the entry sets replaces that of the settings. */
static struct db_limits limits_of(const struct settings *s, const struct db_limits *own)
{
    return (struct db_limits){
        .time_ms = own->time_ms ? own->time_ms : s->database.time_ms,
        .max_rows = own->max_rows ? own->max_rows : (uint32_t)s->database.max_rows,
        .max_bytes = own->max_bytes ? own->max_bytes : (uint64_t)s->database.max_bytes,
        .max_cost = own->max_cost,
    };
}

enum err_code catalogue_pick(struct cli *cli, const char *asked, struct worker_database *out, struct err *err)
{
    enum err_code code = catalogue_open(cli, err);
    if (code) return code;
    struct worker_databases all = catalogue_databases(cli);
    const struct worker_database *entry = worker_database_find(&all, asked);
    *out = entry ? *entry : (struct worker_database){.name = asked, .path = asked};
    code = denied_settings_check(cli, &(struct worker_databases){.files = out, .n_files = 1}, NULL, err);
    return code ? code : catalogue_restrict(cli, &cli->arena, out, err);
}

enum err_code catalogue_restrict(const struct cli *cli, struct arena *arena, struct worker_database *out,
                                 struct err *err)
{
    const struct settings *s = &cli->settings;
    int expose = s->judge.expose ? msg_expose_by_name(s->judge.expose) : 0;
    struct msg_task task = {.db = out->name,
                            .expose = expose > 0 ? (enum msg_expose)expose : MSG_EXPOSE_UNSET,
                            .deny_columns = s->judge.deny_columns.items,
                            .n_deny_columns = s->judge.deny_columns.n};
    enum err_code code = worker_policy(&(struct worker_databases){.files = out, .n_files = 1}, arena, &task, err);
    out->expose = task.expose;
    out->deny_columns = task.deny_columns;
    out->n_deny_columns = task.n_deny_columns;
    if (!out->deny_mode) out->deny_mode = deny_mode_of(s->judge.deny_mode);
    out->limits = limits_of(s, &out->limits);
    return code;
}
