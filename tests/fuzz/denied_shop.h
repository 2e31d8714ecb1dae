/* A database with denied columns on one of the three database engines, and a judging engine on it. Any failure ends the
 * process. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_SHOP_H
#define ASSAY_TESTS_FUZZ_DENIED_SHOP_H

#include "engine/engine.h"
#include "tests/fuzz/denied.h"

struct shop {
    enum denied_engine engine;
    const char *server; /* connection string of PostgreSQL or MariaDB */
    char *name, *path;  /* the schema or database on the server; for SQLite the folder and file */
    struct worker_database entry;
    struct engine *judge; /* set by shop_open */
};

/* Ends the process with status 2 and a message unless `holds`. */
void require(bool holds, const char *what, const char *why);

/* Creates the database on the PostgreSQL server `postgres`, else on the MariaDB server `mariadb`, else in a SQLite
 * file. Both may be NULL. The caller must call shop_remove. */
void shop_make_on(struct shop *shop, const char *postgres, const char *mariadb, enum denied_data data);
const char *shop_engine_name(const struct shop *shop);
void shop_remove(struct shop *shop);

/* Opens an engine whose policy denies DENIED_COLUMNS in this mode; nothing is denied if the mode is unset. The caller
 * must call engine_close(shop->judge). */
void shop_open(struct shop *shop, enum worker_deny mode, int64_t time_ms);

/* Judges one request on the shop. The caller must call msg_verdict_free. */
struct msg_verdict *shop_judge(struct shop *shop, const struct msg_request *request);

#endif
