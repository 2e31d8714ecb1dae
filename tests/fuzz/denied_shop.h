/* Creates a database with denied columns on SQLite, PostgreSQL or MariaDB, and opens an engine that judges on it. Any
 * failure ends the process. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_SHOP_H
#define ASSAY_TESTS_FUZZ_DENIED_SHOP_H

#include "engine/engine.h"
#include "tests/fuzz/denied.h"

struct shop {
    enum denied_engine engine;
    const char *server; /* connection string of PostgreSQL or MariaDB */
    char *name, *path;  /* schema or database on the server; for SQLite, folder and file */
    struct worker_database entry;
    struct engine *judge; /* set by shop_open */
};

/* Ends the process with status 2 and a message unless `holds`. */
void require(bool holds, const char *what, const char *why);

/* Creates the database on the PostgreSQL server `postgres`, on the MariaDB server `mariadb`, or in a SQLite file if
 * both are NULL. Remove with shop_remove. */
void shop_make_on(struct shop *shop, const char *postgres, const char *mariadb, enum denied_data data);
const char *shop_engine_name(const struct shop *shop);
void shop_remove(struct shop *shop);

/* Opens an engine whose policy denies DENIED_COLUMNS in this mode. An unset mode denies nothing. Close it with
 * engine_close(shop->judge). */
void shop_open(struct shop *shop, enum worker_deny mode, int64_t time_ms);

/* Judges one request on the shop. Free the verdict with msg_verdict_free. */
struct msg_verdict *shop_judge(struct shop *shop, const struct msg_request *request);

#endif
