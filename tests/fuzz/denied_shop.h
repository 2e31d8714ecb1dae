/* A database with denied columns on one of the engines, and an engine that judges on it. A failure ends the process. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_SHOP_H
#define ASSAY_TESTS_FUZZ_DENIED_SHOP_H

#include "engine/engine.h"
#include "tests/fuzz/denied.h"

struct shop {
    enum denied_engine engine;
    const char *server; /* connection string, of PostgreSQL or MariaDB */
    char *name, *path;  /* the schema or database on the server; of SQLite the folder and file */
    struct worker_database entry;
    struct engine *judge; /* of shop_open */
};

/* Ends the process with status 2 and a message unless `holds`. */
void require(bool holds, const char *what, const char *why);

/* Makes the database on the PostgreSQL of `postgres`, else on the MariaDB of `mariadb`, else in a SQLite file. Both may be
 * NULL. The caller owes shop_remove. */
void shop_make_on(struct shop *shop, const char *postgres, const char *mariadb, enum denied_data data);
const char *shop_engine_name(const struct shop *shop);
void shop_remove(struct shop *shop);

/* Opens an engine under a policy that denies DENIED_COLUMNS in this mode; nothing is denied if it is unset. The caller owes
 * engine_close(shop->judge). */
void shop_open(struct shop *shop, enum worker_deny mode, int64_t time_ms);

/* Judges one request on it. The caller owes msg_verdict_free. */
struct msg_verdict *shop_judge(struct shop *shop, const struct msg_request *request);

#endif
