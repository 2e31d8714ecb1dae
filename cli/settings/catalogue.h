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
 * later file replaces the whole entry of an earlier file: a mixture of two policies would be a third one that nobody
 * wrote. Secrets are never in the file: a connection string with a password in it is refused, a password is read from a
 * file or a variable when the databases are opened, and lives in no setting.
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
    int64_t time_ms, max_rows, max_bytes; /* 0: as section `database` has it */
};

struct catalogue {
    struct catalogue_entry *entries[CATALOGUE_MAX];
    uint32_t n;
    struct worker_database *opened; /* n of them, with secrets; NULL: not yet */
};

/* What an entry takes; ends with a NULL name. Offsets are of struct catalogue_entry. */
extern const struct option_row catalogue_rows[];

/* A new entry of that name, in the place of an earlier one. NULL with ERR_CONFIG: no name for a database, or too many.
 */
struct catalogue_entry *catalogue_add(struct cli *cli, const char *name, const char *origin, struct err *err);
enum err_code catalogue_set(struct cli *cli, struct catalogue_entry *entry, const char *key, const char *text,
                            bool append, struct err *err);
/* Is the entry whole, and without contradictions? */
enum err_code catalogue_check(const struct catalogue_entry *entry, struct err *err);

/* The entries as workers take them, secrets read; kept in `cli` and made once. NULL with ERR_OK: there are none.
 * ERR_CONFIG: a password that cannot be read. */
enum err_code catalogue_open(struct cli *cli, struct err *err);

/* The database that a command names: an entry of the catalogue, or else a path. What may leave of it is the stricter of
 * the entry's and the settings', and its limits are whole. Text and lists live as long as `cli`. Errors as
 * catalogue_open's, ERR_NOMEM; ERR_CONFIG: a denied column that the database does not have. */
enum err_code catalogue_pick(struct cli *cli, const char *asked, struct worker_database *out, struct err *err);

/* Make what may leave of an entry the stricter of its own and the settings', and its limits whole. Lists are the arena's, or live as long
 * as `cli`. ERR_LIMIT_MEMORY. Thread: any, with an arena of its own. */
enum err_code catalogue_restrict(const struct cli *cli, struct arena *arena, struct worker_database *out,
                                 struct err *err);

/* The opened entries, for engine_settings. */
struct worker_databases catalogue_databases(const struct cli *cli);

#endif
