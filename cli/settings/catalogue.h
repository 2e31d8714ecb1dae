/* Reads the catalogue: the databases that may be used, by name. It is the section `databases` of the configuration
 * files.
 *
 *     databases:
 *       shop:
 *         path: /srv/shop.sqlite
 *       orders:
 *         path: host=db.example dbname=orders user=assay sslmode=verify-full
 *         password_file: /run/secrets/orders
 *         expose: values
 *         deny_columns: [customer.email]
 *         max_statements: 20
 *
 * An entry is a set of options; the tables of cli/settings/options.c read, check and print it. An entry of a later file
 * replaces the whole entry of an earlier file. A mixture of two policies would be a policy that no operator has chosen.
 *
 * The file never contains secrets. A connection string with a password is refused. A password is read from a file or an
 * environment variable when the databases are opened. No setting stores it.
 */
#ifndef ASSAY_CLI_SETTINGS_CATALOGUE_H
#define ASSAY_CLI_SETTINGS_CATALOGUE_H

#include "cli/cli.h"
#include "worker/worker.h"

enum { CATALOGUE_MAX = 4096 };

struct catalogue_entry {
    const char *name, *origin; /* origin: file:line of the entry */
    const char *path;
    const char *password_file, *password_variable;
    const char *descriptions;
    const char *expose;
    struct string_list deny_columns;
    const char *deny_mode;
    int64_t max_statements;
    double max_cost;
    int64_t time_ms, max_rows, max_bytes; /* 0 means the value of section `database` */
};

struct catalogue {
    struct catalogue_entry *entries[CATALOGUE_MAX];
    uint32_t n;
    struct worker_database *opened; /* array of n databases with their secrets; NULL before catalogue_open */
};

/* The keys of an entry; ends with a NULL name. Offsets refer to struct catalogue_entry. */
extern const struct option_row catalogue_rows[];

/* Adds an entry, and replaces an earlier one with the same name. Returns NULL, with ERR_CONFIG in `err`, if the name is
 * invalid or there are too many entries. */
struct catalogue_entry *catalogue_add(struct cli *cli, const char *name, const char *origin, struct err *err);
enum err_code catalogue_set(struct cli *cli, struct catalogue_entry *entry, const char *key, const char *text,
                            bool append, struct err *err);
/* Checks that the entry is complete and consistent. */
enum err_code catalogue_check(const struct catalogue_entry *entry, struct err *err);

/* Converts the entries to worker databases, with their secrets, and stores these in `cli`. Later calls do nothing.
 * Without entries, returns ERR_OK. Returns ERR_CONFIG if a password cannot be read. */
enum err_code catalogue_open(struct cli *cli, struct err *err);

/* Picks the database that a command names: an entry of the catalogue, otherwise a path. The policy and the limits are
 * those of catalogue_restrict. Text and lists live as long as `cli`. Errors: those of catalogue_open, ERR_NOMEM;
 * ERR_CONFIG for a denied column that the database lacks. */
enum err_code catalogue_pick(struct cli *cli, const char *asked, struct worker_database *out, struct err *err);

/* Combines the policy of an entry with that of the settings; of two rules, the stricter one applies. Sets each limit
 * that the entry leaves open to that of the settings. The lists live in the arena, or as long as `cli`. Returns
 * ERR_LIMIT_MEMORY if the arena is full. Thread: any, with a separate arena. */
enum err_code catalogue_restrict(const struct cli *cli, struct arena *arena, struct worker_database *out,
                                 struct err *err);

/* Returns the databases that catalogue_open has opened, and the roots of --db-root, for engine_settings. */
struct worker_databases catalogue_databases(const struct cli *cli);

#endif
