/* Reads the file of tenants and checks callers' tokens. Rows of tokens are replaced as a whole when the file has
 * changed and is valid. A tenant has a reference count, so a request in progress can still use a tenant of an old file.
 * Numbers of tenants never change while the process runs: `names` and `numbers` only grow. Tokens are compared by their
 * SHA-256 in constant time.
 */
#include "server/tokens.h"

#include "lib/base/arena.h"
#include "lib/schema/deny_name.h"
#include "server/file_watch.h"

#include <glib.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>

enum { DIGEST_BYTES = 32, MAX_TENANTS = 60000, MAX_FILE = 64 << 20 };

struct token {
    guint8 digest[DIGEST_BYTES];
    struct tenant *tenant; /* allocated with g_atomic_rc_box */
};

struct tokens {
    char *path;
    tokens_check_fn *check; /* may be NULL */
    void *check_ctx;
    struct stat seen;
    pthread_mutex_t lock; /* protects the fields below */
    GArray *rows;         /* struct token; each has a reference */
    GPtrArray *names;     /* indexed by number - 1 */
    GHashTable *numbers;  /* name → number */
};

/* --- the file --- */

static enum err_code not_right(struct err *err, const char *path, const char *name, const char *why)
{
    return err_set(err, ERR_CONFIG, "%s: tenant '%.64s': %s", path, name, why);
}

static char **strings_of(const json_t *list)
{
    size_t i;
    json_t *item;
    GPtrArray *out = g_ptr_array_new();
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item)) {
            g_ptr_array_set_free_func(out, g_free);
            g_ptr_array_free(out, TRUE);
            return NULL;
        }
        g_ptr_array_add(out, g_strdup(json_string_value(item)));
    }
    g_ptr_array_add(out, NULL);
    return (char **)g_ptr_array_free(out, FALSE);
}

static bool read_digest(const char *hex, guint8 out[DIGEST_BYTES])
{
    if (!hex || strlen(hex) != 2 * DIGEST_BYTES) return false;
    for (unsigned i = 0; i < DIGEST_BYTES; i++) {
        int high = g_ascii_xdigit_value(hex[2 * i]), low = g_ascii_xdigit_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (guint8)(high << 4 | low);
    }
    return true;
}

static void tenant_clear(gpointer data)
{
    struct tenant *tenant = data;
    g_strfreev(tenant->databases);
    g_strfreev(tenant->deny_columns);
}

void tenant_unref(const struct tenant *tenant)
{
    if (tenant) g_atomic_rc_box_release_full((gpointer)tenant, tenant_clear);
}

static void token_clear(gpointer data)
{
    tenant_unref(((struct token *)data)->tenant);
}

/* Returns an unknown key, or NULL. Unknown keys are errors, since a mistyped limit would have no effect. */
static const char *unknown_key(const json_t *json, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value) if (!g_strv_contains(known, key)) return key;
    return NULL;
}

static enum err_code read_limits(const char *path, const char *name, const json_t *json, struct tenant *out,
                                 struct err *err)
{
    static const char *const known[] = {"sha256", "databases", "expose", "deny_columns", NULL};
    const json_t *databases = json_object_get(json, "databases"), *denied = json_object_get(json, "deny_columns"),
                 *expose = json_object_get(json, "expose");
    const char *unknown = unknown_key(json, known);
    struct err why = {0};
    if (!json_is_object(json) || unknown) return not_right(err, path, name, unknown ? "unknown key" : "not an object");
    out->databases = json_is_array(databases) ? strings_of(databases) : NULL;
    if (!out->databases) return not_right(err, path, name, "\"databases\" must be a list of names or [\"*\"]");
    out->all = g_strv_contains((const gchar *const *)out->databases, "*");
    out->deny_columns = !denied || json_is_array(denied) ? strings_of(denied) : NULL;
    if (!out->deny_columns) return not_right(err, path, name, "\"deny_columns\" must be a list of table.column");
    if (deny_names_check((const char *const *)out->deny_columns, g_strv_length(out->deny_columns), &why))
        return not_right(err, path, name, why.text);
    int level = expose && json_is_string(expose) ? msg_expose_by_name(json_string_value(expose)) : MSG_EXPOSE_UNSET;
    if (expose && level <= MSG_EXPOSE_UNSET)
        return not_right(err, path, name, "\"expose\" must be none, values or rows");
    out->expose = (enum msg_expose)level;
    return ERR_OK;
}

/* Returns the number of a tenant; 0 if there are too many. The caller must hold the lock. */
static uint16_t number_of(struct tokens *tokens, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(tokens->numbers, name));
    if (number || tokens->names->len >= MAX_TENANTS) return (uint16_t)number;
    char *copy = g_strdup(name);
    g_ptr_array_add(tokens->names, copy);
    g_hash_table_insert(tokens->numbers, copy, GUINT_TO_POINTER(tokens->names->len));
    return (uint16_t)tokens->names->len;
}

static enum err_code read_tenant(struct tokens *tokens, const char *name, const json_t *json, GArray *rows,
                                 struct err *err)
{
    size_t i;
    json_t *hash, *hashes = json_object_get(json, "sha256");
    if (!*name || strlen(name) > TENANT_MAX_NAME)
        return not_right(err, tokens->path, name, "the name must have 1 to 64 bytes");
    struct tenant *tenant = g_atomic_rc_box_new0(struct tenant);
    g_strlcpy(tenant->name, name, sizeof tenant->name);
    enum err_code code = read_limits(tokens->path, name, json, tenant, err);
    if (!code && !json_array_size(hashes))
        code = not_right(err, tokens->path, name, "\"sha256\" must be a list of token hashes");
    pthread_mutex_lock(&tokens->lock);
    if (!code && !(tenant->number = number_of(tokens, name)))
        code = not_right(err, tokens->path, name, "too many tenants");
    pthread_mutex_unlock(&tokens->lock);
    json_array_foreach(hashes, i, hash)
    {
        struct token row = {.tenant = tenant};
        if (code) break;
        if (!read_digest(json_string_value(hash), row.digest))
            code = not_right(err, tokens->path, name,
                             "a hash must have 64 hexadecimal digits (printf %s TOKEN | sha256sum)");
        else
            g_atomic_rc_box_acquire(tenant), g_array_append_val(rows, row);
    }
    tenant_unref(tenant);
    return code;
}

static enum err_code read_file(struct tokens *tokens, GArray *rows, struct err *err)
{
    json_error_t error;
    const char *name;
    json_t *json, *root = json_load_file(tokens->path, JSON_REJECT_DUPLICATES, &error);
    json_t *tenants = json_object_get(root, "tenants");
    enum err_code code = ERR_OK;
    if (!root)
        code = err_set(err, ERR_CONFIG, "%s, line %d: %s", tokens->path, error.line, error.text);
    else if (json_integer_value(json_object_get(root, "tokens_version")) != 1 || !json_is_object(tenants))
        code = err_set(err, ERR_CONFIG, "%s: expected {\"tokens_version\": 1, \"tenants\": {...}}", tokens->path);
    json_object_foreach(tenants, name, json) if (!code) code = read_tenant(tokens, name, json, rows, err);
    json_decref(root);
    return code;
}

static GArray *rows_new(void)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct token));
    g_array_set_clear_func(rows, token_clear);
    return rows;
}

/* Calls `check` with each tenant once. Tokens of one tenant are adjacent rows. */
static enum err_code check_tenants(const struct tokens *tokens, const GArray *rows, struct err *err)
{
    GPtrArray *tenants = g_ptr_array_new();
    for (guint i = 0; tokens->check && i < rows->len; i++) {
        struct tenant *tenant = g_array_index(rows, struct token, i).tenant;
        if (!tenants->len || tenants->pdata[tenants->len - 1] != tenant) g_ptr_array_add(tenants, tenant);
    }
    enum err_code code = tenants->len ? tokens->check(tokens->check_ctx, tokens->path,
                                                      (const struct tenant *const *)tenants->pdata, tenants->len, err)
                                      : ERR_OK;
    g_ptr_array_free(tenants, TRUE);
    return code;
}

bool tokens_refresh(struct tokens *tokens, struct err *err)
{
    *err = (struct err){0};
    if (!file_watch_changed(tokens->path, &tokens->seen)) return false;
    GArray *rows = rows_new(), *old = rows;
    if (tokens->seen.st_size < 0 || tokens->seen.st_size > MAX_FILE) {
        err_set(err, ERR_IO, "%s is not readable, or larger than %d bytes", tokens->path, MAX_FILE);
    } else if (!read_file(tokens, rows, err) && !check_tenants(tokens, rows, err)) {
        pthread_mutex_lock(&tokens->lock);
        old = tokens->rows;
        tokens->rows = rows;
        pthread_mutex_unlock(&tokens->lock);
    }
    g_array_free(old, TRUE);
    return true;
}

enum err_code tokens_open(const char *path, tokens_check_fn *check, void *ctx, struct tokens **out, struct err *err)
{
    struct err why = {0};
    struct tokens *tokens = g_new0(struct tokens, 1);
    tokens->path = g_strdup(path);
    tokens->check = check;
    tokens->check_ctx = ctx;
    tokens->rows = rows_new();
    tokens->names = g_ptr_array_new_with_free_func(g_free);
    tokens->numbers = g_hash_table_new(g_str_hash, g_str_equal);
    pthread_mutex_init(&tokens->lock, NULL);
    tokens_refresh(tokens, &why);
    if (why.code) {
        tokens_close(tokens);
        tokens = NULL;
    }
    if (why.code && err) *err = why;
    *out = tokens;
    return why.code;
}

void tokens_close(struct tokens *tokens)
{
    if (!tokens) return;
    g_array_free(tokens->rows, TRUE);
    g_hash_table_destroy(tokens->numbers);
    g_ptr_array_free(tokens->names, TRUE);
    pthread_mutex_destroy(&tokens->lock);
    g_free(tokens->path);
    g_free(tokens);
}

/* --- authentication --- */

static void digest_of(const char *token, guint8 out[DIGEST_BYTES])
{
    gsize len = DIGEST_BYTES;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)token, (gssize)strlen(token));
    g_checksum_get_digest(sum, out, &len);
    g_checksum_free(sum);
}

/* Compares digests in constant time. */
static bool is_equal(const guint8 *a, const guint8 *b)
{
    guint8 differ = 0;
    for (unsigned i = 0; i < DIGEST_BYTES; i++) differ |= a[i] ^ b[i];
    return differ == 0;
}

const struct tenant *tokens_check(struct tokens *tokens, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    guint8 digest[DIGEST_BYTES];
    struct tenant *found = NULL;
    if (!authorization || g_ascii_strncasecmp(authorization, scheme, strlen(scheme)) != 0) return NULL;
    digest_of(authorization + strlen(scheme), digest);
    pthread_mutex_lock(&tokens->lock);
    for (guint i = 0; i < tokens->rows->len; i++) {
        const struct token *row = &g_array_index(tokens->rows, struct token, i);
        if (is_equal(digest, row->digest)) found = row->tenant;
    }
    if (found) g_atomic_rc_box_acquire(found);
    pthread_mutex_unlock(&tokens->lock);
    return found;
}

const char *tokens_name(struct tokens *tokens, uint16_t number)
{
    if (!tokens || !number) return "";
    pthread_mutex_lock(&tokens->lock);
    const char *name = number <= tokens->names->len ? tokens->names->pdata[number - 1] : "";
    pthread_mutex_unlock(&tokens->lock);
    return name;
}

/* --- permissions --- */

bool tenant_may_ask(const struct tenant *tenant, const char *db)
{
    return !tenant || tenant->all || (db && g_strv_contains((const gchar *const *)tenant->databases, db));
}

enum msg_expose tenant_expose(const struct tenant *tenant, enum msg_expose requested)
{
    if (!tenant || tenant->expose == MSG_EXPOSE_UNSET) return requested;
    return requested == MSG_EXPOSE_UNSET ? MIN(MSG_EXPOSE_VALUES, tenant->expose) : MIN(requested, tenant->expose);
}

enum err_code tenant_narrow(const struct tenant *tenant, struct msg_request *request, struct arena *arena,
                            struct err *err)
{
    if (!tenant) return ERR_OK;
    /* with a schema in the request, the database is only a label */
    if (!request->schema && !tenant_may_ask(tenant, request->db))
        return err_set(err, ERR_FORBIDDEN, "the token does not allow access to this database");
    request->options.expose = tenant_expose(tenant, request->options.expose);
    uint32_t own = g_strv_length(tenant->deny_columns), n = request->options.n_deny_columns;
    if (!own) return ERR_OK;
    const char **all = arena_new_array(arena, n + own, const char *);
    if (!all) return err_set(err, ERR_NOMEM, "no memory for the request");
    for (uint32_t i = 0; i < n; i++) all[i] = request->options.deny_columns[i];
    for (uint32_t i = 0; i < own; i++) all[n + i] = arena_strdup(arena, tenant->deny_columns[i]);
    request->options.deny_columns = all;
    request->options.n_deny_columns = n + own;
    return ERR_OK;
}
