/* The databases that may be judged on, by name: the section `databases` of the configuration files.
 *
 *   databases:
 *     shop:
 *       path: /srv/shop.sqlite
 *     orders:
 *       path: host=db.example dbname=orders user=assay sslmode=verify-full
 *       password_file: /run/secrets/orders
 *       expose: values
 *       deny_columns: [customer.email]
 *       max_statements: 20
 *
 * An entry is a row of options of its own; the tables of cli/settings/options.c read, check and print it. An entry of a
 * later file replaces the whole entry of an earlier file, because a mixture of two policies would be a third, unwanted
 * policy. Secrets are never in the configuration file, and a connection string with a password is refused. A password
 * is read from a file or a variable when the databases are opened. No setting holds a password.
 */
#ifndef ASSAY_CLI_SETTINGS_CATALOGUE_H
#define ASSAY_CLI_SETTINGS_CATALOGUE_H

#include "cli/cli.h"
#include "worker/worker.h"

enum { CATALOGUE_MAX = 4096 };

struct catalogue_entry {
    const char *name, *origin; /* file:line */
    const char *path;
    const char *password_file, *password_variable;
    const char *descriptions;
    const char *expose;
    struct string_list deny_columns;
    const char *deny_mode;
    int64_t max_statements;
    double max_cost;
    int64_t time_ms, max_rows, max_bytes; /* 0: the limit of section `database` */
};

struct catalogue {
    struct catalogue_entry *entries[CATALOGUE_MAX];
    uint32_t n;
    struct worker_database *opened; /* n databases with secrets; NULL before catalogue_open */
};

/* Options of an entry; ends with a NULL name. Offsets are of struct catalogue_entry. */
extern const struct option_row catalogue_rows[];

/* Adds an entry and replaces an earlier entry of the same name. Returns NULL and sets ERR_CONFIG if `name` is not valid
 * for a database, or if there are too many entries. */
struct catalogue_entry *catalogue_add(struct cli *cli, const char *name, const char *origin, struct err *err);
enum err_code catalogue_set(struct cli *cli, struct catalogue_entry *entry, const char *key, const char *text,
                            bool append, struct err *err);
/* Checks that the entry is complete and has no contradictions. */
enum err_code catalogue_check(const struct catalogue_entry *entry, struct err *err);

/* Converts the entries to databases for workers and reads their secrets, once. `cli` keeps the result, which is NULL if
 * there are no entries. Returns ERR_CONFIG if a password cannot be read. */
enum err_code catalogue_open(struct cli *cli, struct err *err);

/* The database that a command names: an entry of the catalogue, or else a path. What may leave of it is the stricter of
 * the entry's and the settings', and its limits are whole. Text and lists live as long as `cli`. Errors as
 * catalogue_open's, ERR_NOMEM; ERR_CONFIG: a denied column that the database does not have. */
enum err_code catalogue_pick(struct cli *cli, const char *asked, struct worker_database *out, struct err *err);

/* Applies the stricter of the entry's and the settings' exposure rules, and fills in the missing limits. Lists live in
 * `arena` or as long as `cli`. Returns ERR_LIMIT_MEMORY if the arena is full. Thread: any, with an arena of its own. */
enum err_code catalogue_restrict(const struct cli *cli, struct arena *arena, struct worker_database *out,
                                 struct err *err);

/* Returns the opened entries, for engine_settings. */
struct worker_databases catalogue_databases(const struct cli *cli);

#endif
