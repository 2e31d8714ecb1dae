/* Who may ask what: a file of tenants, the hashes of their tokens, and what each may see.
 *
 *   {"tokens_version": 1,
 *    "tenants": {"acme": {"sha256": ["9f86d0..."], "databases": ["shop", "sales"], "expose": "values",
 *                         "deny_columns": ["customer.email"]}}}
 *
 * A tenant may have several tokens, so that one can be replaced while the other still holds. `databases` must be there; ["*"] is all of them.
 * `expose` is the most that may leave (docs/formats.md); not there: as the request says. The file is read again when it has changed; one that is not
 * right is said in the log, and the last one that was holds.
 *
 * A token is to be long and random (`openssl rand -hex 32`), so that a plain hash of it is enough: nobody can try all. Hashes are compared in
 * constant time, all of them for each request. */
#ifndef ASSAY_SERVER_TOKENS_H
#define ASSAY_SERVER_TOKENS_H

#include "proto/message/msg.h"

#include <stdbool.h>

enum { TENANT_MAX_NAME = 64 };

struct tenant {
    char name[TENANT_MAX_NAME + 1];
    uint16_t number;                  /* from 1; one name has one number as long as the process runs */
    bool all;                         /* databases */
    char **databases, **deny_columns; /* end with NULL */
    enum msg_expose expose;           /* unset: as the request says */
};

struct tokens;

/* Checks the tenants of a file that reads well, each once, before they hold. Not ERR_OK: the file is refused. */
typedef enum err_code tokens_check_fn(void *ctx, const char *path, const struct tenant *const *tenants, uint32_t n,
                                      struct err *err);

/* `check` may be NULL; `ctx` must outlive the tokens. ERR_IO, ERR_CONFIG: the text says what is wrong where. The caller
 * owes tokens_close. */
enum err_code tokens_open(const char *path, tokens_check_fn *check, void *ctx, struct tokens **out, struct err *err);
/* After all tenants are unref'd. NULL is fine. */
void tokens_close(struct tokens *tokens);
/* Reads the file again if it is another one than before: true. ERR_OK, or what is wrong with it. Takes as long as
 * `check` does. Thread: one at a time, beside all others. */
bool tokens_refresh(struct tokens *tokens, struct err *err);

/* The tenant of "Bearer TOKEN"; the caller owes tenant_unref. NULL: none; `authorization` may be NULL. Thread: any. */
const struct tenant *tokens_check(struct tokens *tokens, const char *authorization);
void tenant_unref(const struct tenant *tenant);

/* The name that has this number; "" of 0. It lives as long as `tokens`. Thread: any. */
const char *tokens_name(struct tokens *tokens, uint16_t number);

/* May he ask of this database? NULL: there are no tenants, and everybody may. Thread: any. */
bool tenant_may_ask(const struct tenant *tenant, const char *db);
/* The less exposed of both. Thread: any. */
enum msg_expose tenant_expose(const struct tenant *tenant, enum msg_expose requested);
/* Narrows the request to what its tenant may see; ERR_FORBIDDEN: not even ask. Lists are the arena's. Thread: any. */
enum err_code tenant_narrow(const struct tenant *tenant, struct msg_request *request, struct arena *arena,
                            struct err *err);

#endif
