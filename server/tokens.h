/* Authenticates tenants and restricts their requests, by a file with the hashes of their tokens and their permissions.
 *
 *    {"tokens_version": 1,
 *     "tenants": {"acme": {"sha256": ["9f86d0..."], "databases": ["shop", "sales"], "expose": "values",
 *                          "deny_columns": ["customer.email"]}}}
 *
 * A tenant may have several tokens, so that one can be replaced while the other is still valid. `databases` is
 * required; ["*"] means all. `expose` is the upper limit of exposed data (docs/formats.md); without it, the request
 * sets the level. The file is reloaded when it changes. If a new file is invalid, the log has the error and the
 * previous one stays in use.
 *
 * A token must be long and random (`openssl rand -hex 32`). Then a plain hash is sufficient, since an attacker cannot
 * try all tokens. For each request all hashes are compared in constant time.
 */
#ifndef ASSAY_SERVER_TOKENS_H
#define ASSAY_SERVER_TOKENS_H

#include "proto/message/msg.h"

#include <stdbool.h>

enum { TENANT_MAX_NAME = 64 };

struct tenant {
    char name[TENANT_MAX_NAME + 1];
    uint16_t number;                  /* from 1; a name has the same number as long as the process runs */
    bool all;                         /* all databases */
    char **databases, **deny_columns; /* end with NULL */
    enum msg_expose expose;           /* unset if the request sets the level */
};

struct tokens;

/* Checks the tenants of a syntactically valid file, each once, before they take effect. Any result but ERR_OK refuses
 * the file. */
typedef enum err_code tokens_check_fn(void *ctx, const char *path, const struct tenant *const *tenants, uint32_t n,
                                      struct err *err);

/* Opens the file. `check` may be NULL; `ctx` must outlive the tokens. Returns ERR_IO or ERR_CONFIG; the text has the
 * place and the reason. Close with tokens_close. */
enum err_code tokens_open(const char *path, tokens_check_fn *check, void *ctx, struct tokens **out, struct err *err);
/* Frees the tokens. Call it after all tenants are released. NULL is allowed. */
void tokens_close(struct tokens *tokens);
/* Reloads the file if it changed; returns true then, with the result in `err`. Takes as long as `check`. Thread: one at
 * a time, concurrently with all other functions. */
bool tokens_refresh(struct tokens *tokens, struct err *err);

/* Returns the tenant of "Bearer TOKEN". Release it with tenant_unref. Returns NULL for an unknown token.
 * `authorization` may be NULL. Thread: any. */
const struct tenant *tokens_check(struct tokens *tokens, const char *authorization);
void tenant_unref(const struct tenant *tenant);

/* Returns the name of the tenant with this number; "" for 0. It lives as long as `tokens`. Thread: any. */
const char *tokens_name(struct tokens *tokens, uint16_t number);

/* Returns true if the tenant may use this database. A NULL tenant may use all. Thread: any. */
bool tenant_may_ask(const struct tenant *tenant, const char *db);
/* Returns the stricter of the two levels. Thread: any. */
enum msg_expose tenant_expose(const struct tenant *tenant, enum msg_expose requested);
/* Restricts the request to the data that its tenant may see. Returns ERR_FORBIDDEN if the tenant may not use the
 * database. Lists are allocated in the arena. Thread: any. */
enum err_code tenant_narrow(const struct tenant *tenant, struct msg_request *request, struct arena *arena,
                            struct err *err);

#endif
