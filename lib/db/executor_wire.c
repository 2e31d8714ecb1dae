/* Encodes and decodes the messages between an executor and its child (executor_wire.h). The reader compares every
 * length with the remaining bytes. After the first violation `bad` is set, and all reads return zeros. */
#include "lib/db/executor_wire.h"

#include "lib/db/executor.h"

#include <string.h>

/* --- writing ------------------------------------------------------------------------------------------------------ */

#define PUT(out, value) put(out, &(value), sizeof(value))

static void put(GByteArray *out, const void *bytes, size_t len)
{
    g_byte_array_append(out, bytes, (guint)len);
}

static void put_byte(GByteArray *out, unsigned byte)
{
    guint8 b = (guint8)byte;
    put(out, &b, 1);
}

/* Writes the length, the text and a NUL. The length does not include the NUL. */
static void put_text(GByteArray *out, const char *text, size_t len)
{
    uint32_t n = (uint32_t)len;
    PUT(out, n);
    if (n) put(out, text, n);
    put_byte(out, 0);
}

static void put_value(GByteArray *out, const struct db_value *value)
{
    put_byte(out, value->type);
    switch (value->type) {
    case DB_INT: PUT(out, value->i); break;
    case DB_FLOAT: PUT(out, value->f); break;
    case DB_TEXT:
    case DB_BLOB: put_text(out, value->text, value->len); break;
    case DB_NULL: break;
    }
}

static void begin(GByteArray *out)
{
    uint32_t later = 0;
    g_byte_array_set_size(out, 0);
    PUT(out, later);
}

static void finish(GByteArray *out)
{
    uint32_t len = out->len - WIRE_LENGTH;
    memcpy(out->data, &len, sizeof len);
}

void wire_write_request(GByteArray *out, const struct wire_request *request)
{
    const struct db_statement *statement = &request->statement;
    begin(out);
    put_byte(out, request->op);
    PUT(out, request->handle);
    PUT(out, request->limits);
    PUT(out, request->deadline_ns);
    PUT(out, request->result_bytes);
    PUT(out, statement->stop_rows);
    put_text(out, statement->sql, statement->len);
    PUT(out, statement->n_params);
    for (uint32_t i = 0; i < statement->n_params; i++) put_value(out, &statement->params[i]);
    finish(out);
}

static void put_result(GByteArray *out, const struct db_result *result)
{
    size_t n = (size_t)result->n_rows * result->n_columns;
    PUT(out, result->n_columns);
    PUT(out, result->n_rows);
    PUT(out, result->ns);
    PUT(out, result->prepare_ns);
    PUT(out, result->steps);
    put_byte(out, result->truncated);
    put_byte(out, result->varies);
    PUT(out, result->digest);
    PUT(out, result->ordered_digest);
    for (uint32_t i = 0; i < result->n_columns; i++) put_text(out, result->columns[i], strlen(result->columns[i]));
    for (size_t i = 0; i < n; i++) put_value(out, &result->values[i]);
}

void wire_write_reply(GByteArray *out, const struct wire_reply *reply)
{
    begin(out);
    put_byte(out, reply->code);
    PUT(out, reply->offset);
    if (reply->code)
        put_text(out, reply->err.text, strlen(reply->err.text));
    else
        put_result(out, &reply->result);
    finish(out);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct wire_reader {
    const char *p, *end;
    bool bad;
};

#define TAKE(reader, into) take(reader, into, sizeof *(into))

/* Reads `len` bytes. Returns zeros after a violation. */
static void take(struct wire_reader *r, void *into, size_t len)
{
    if (r->bad || (size_t)(r->end - r->p) < len) {
        r->bad = true;
        memset(into, 0, len);
        return;
    }
    memcpy(into, r->p, len);
    r->p += len;
}

static unsigned take_byte(struct wire_reader *r)
{
    guint8 byte;
    TAKE(r, &byte);
    return byte;
}

/* Returns a NUL-terminated text, which points into the body. */
static const char *take_text(struct wire_reader *r, size_t *len)
{
    uint32_t n;
    TAKE(r, &n);
    const char *text = r->p;
    *len = 0;
    if (r->bad || (size_t)(r->end - r->p) <= n || text[n] != '\0') {
        r->bad = true;
        return "";
    }
    r->p += (size_t)n + 1;
    *len = n;
    return text;
}

static void take_value(struct wire_reader *r, struct db_value *value)
{
    unsigned type = take_byte(r);
    *value = (struct db_value){.type = type <= DB_BLOB ? (enum db_type)type : DB_NULL};
    if (type > DB_BLOB) r->bad = true;
    switch (value->type) {
    case DB_INT: TAKE(r, &value->i); break;
    case DB_FLOAT: TAKE(r, &value->f); break;
    case DB_TEXT:
    case DB_BLOB: value->text = take_text(r, &value->len); break;
    case DB_NULL: break;
    }
}

bool wire_read_request(const void *body, size_t len, struct wire_request *out, struct db_value **params)
{
    struct wire_reader r = {body, (const char *)body + len, false};
    struct db_statement *statement = &out->statement;
    *out = (struct wire_request){0};
    *params = NULL;
    unsigned op = take_byte(&r);
    TAKE(&r, &out->handle);
    TAKE(&r, &out->limits);
    TAKE(&r, &out->deadline_ns);
    TAKE(&r, &out->result_bytes);
    TAKE(&r, &statement->stop_rows);
    statement->sql = take_text(&r, &statement->len);
    TAKE(&r, &statement->n_params);
    if (r.bad || op >= WIRE_OP_COUNT || out->handle >= EXECUTOR_HANDLES) return false;
    if (statement->n_params > (size_t)(r.end - r.p)) return false; /* a parameter has at least one byte */
    out->op = (enum wire_op)op;
    *params = g_new(struct db_value, statement->n_params);
    for (uint32_t i = 0; i < statement->n_params; i++) take_value(&r, &(*params)[i]);
    statement->params = *params;
    return !r.bad && r.p == r.end;
}

/* Converts an error code from the child. ERR_NOMEM of the child becomes ERR_LIMIT_MEMORY of the statement; any other
 * fatal or unknown code becomes ERR_ENGINE. */
static enum err_code code_of(unsigned code)
{
    if (code == ERR_NOMEM) return ERR_LIMIT_MEMORY;
    if (code >= ERR_COUNT || err_class((enum err_code)code) == ERR_CLASS_FATAL) return ERR_ENGINE;
    return (enum err_code)code;
}

static void read_error(struct wire_reader *r, struct wire_reply *out)
{
    size_t len;
    const char *text = take_text(r, &len);
    bool fits = len < ERR_TEXT_MAX && g_utf8_validate(text, (gssize)len, NULL);
    err_set(&out->err, out->code, "%s", fits && len ? text : err_meaning(out->code));
}

/* Copies the text into the arena, because the body is temporary. */
static const char *keep(struct wire_reader *r, struct arena *arena, const char *text, size_t len)
{
    const char *copy = r->bad ? NULL : arena_strndup(arena, text, len);
    if (!copy) r->bad = true;
    return copy;
}

static void read_columns(struct wire_reader *r, struct arena *arena, struct db_result *result)
{
    const char **columns = arena_new_array(arena, result->n_columns, const char *);
    if (!columns) r->bad = true;
    for (uint32_t i = 0; !r->bad && i < result->n_columns; i++) {
        size_t len;
        const char *name = take_text(r, &len);
        columns[i] = keep(r, arena, name, len);
    }
    result->columns = columns;
}

static void read_values(struct wire_reader *r, struct arena *arena, struct db_result *result)
{
    size_t n = (size_t)result->n_rows * result->n_columns;
    if (n > (size_t)(r->end - r->p)) r->bad = true; /* a value has at least one byte */
    struct db_value *values = r->bad ? NULL : arena_new_array(arena, n, struct db_value);
    if (!values) r->bad = true;
    for (size_t i = 0; !r->bad && i < n; i++) {
        take_value(r, &values[i]);
        if (values[i].text) values[i].text = keep(r, arena, values[i].text, values[i].len);
    }
    result->values = values;
}

static void read_result(struct wire_reader *r, const struct wire_request *asked, struct arena *arena,
                        struct db_result *result)
{
    TAKE(r, &result->n_columns);
    TAKE(r, &result->n_rows);
    TAKE(r, &result->ns);
    TAKE(r, &result->prepare_ns);
    TAKE(r, &result->steps);
    result->truncated = take_byte(r) != 0;
    result->varies = take_byte(r) != 0;
    TAKE(r, &result->digest);
    TAKE(r, &result->ordered_digest);
    uint32_t stop = asked->statement.stop_rows;
    if (result->n_rows > asked->limits.max_rows || (stop && result->n_rows > stop)) r->bad = true;
    if (result->n_columns > (size_t)(r->end - r->p)) r->bad = true;
    if (!r->bad) read_columns(r, arena, result);
    if (!r->bad) read_values(r, arena, result);
}

bool wire_read_reply(const void *body, size_t len, const struct wire_request *asked, struct arena *arena,
                     struct wire_reply *out)
{
    struct wire_reader r = {body, (const char *)body + len, false};
    *out = (struct wire_reply){0};
    unsigned code = take_byte(&r);
    TAKE(&r, &out->offset);
    out->code = code ? code_of(code) : ERR_OK;
    if (out->code)
        read_error(&r, out);
    else if (asked->op == WIRE_QUERY)
        read_result(&r, asked, arena, &out->result);
    return !r.bad && (r.p == r.end || asked->op != WIRE_QUERY);
}
