/* Names of the enums, and encoding and decoding of whole messages.
 *
 * The codec (codec.c) does most of the work, with the tables of fields.c. After decoding, this file refuses messages
 * that lack a mandatory field, so other code may rely on these fields.
 */
#include "proto/message/msg.h"

#include "lib/base/digits.h"
#include "proto/message/fields.h"

#include <stdlib.h>
#include <string.h>

#define X(id, name, more) [MSG_##id] = #name,
static const char *const strategies[MSG_STRATEGY_COUNT] = {MSG_STRATEGIES(X)};
static const char *const policies[MSG_POLICY_COUNT] = {MSG_POLICIES(X)};
static const char *const orders[MSG_ORDER_COUNT] = {MSG_ORDERS(X)};
static const char *const repairs[MSG_REPAIR_COUNT] = {MSG_REPAIRS(X)};
#undef X
#define X(id, name) [MSG_##id] = #name,
static const char *const promises[MSG_PROMISE_COUNT] = {MSG_PROMISES(X)};
#undef X
static const char *const exposures[MSG_EXPOSE_COUNT] = {NULL, "none", "values", "rows"};
static const char *const states[MSG_STATE_COUNT] = {"silent", "fired", "unavailable"};
static const char *const severities[MSG_SEVERITY_COUNT] = {"note", "warning", "error"};
static const char *const statuses[MSG_STATUS_COUNT] = {"failed",      "validated", "repaired",
                                                       "best_effort", "abstained", "ask"};

static const char *name_of(const char *const *names, unsigned n, unsigned value)
{
    return value < n ? names[value] : NULL;
}

static int value_of(const char *const *names, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (names[i] && strcmp(names[i], name) == 0) return (int)i;
    return -1;
}

const char *msg_strategy_name(enum msg_strategy strategy)
{
    return name_of(strategies, MSG_STRATEGY_COUNT, strategy);
}
const char *msg_policy_name(enum msg_policy policy)
{
    return name_of(policies, MSG_POLICY_COUNT, policy);
}
const char *msg_order_name(enum msg_order order)
{
    return name_of(orders, MSG_ORDER_COUNT, order);
}
const char *msg_repair_name(enum msg_repair repair)
{
    return name_of(repairs, MSG_REPAIR_COUNT, repair);
}
const char *msg_promise_name(enum msg_promise promise)
{
    return name_of(promises, MSG_PROMISE_COUNT, promise);
}
const char *msg_expose_name(enum msg_expose expose)
{
    return name_of(exposures, MSG_EXPOSE_COUNT, expose);
}
const char *msg_state_name(enum msg_state state)
{
    return name_of(states, MSG_STATE_COUNT, state);
}
const char *msg_severity_name(enum msg_severity severity)
{
    return name_of(severities, MSG_SEVERITY_COUNT, severity);
}
const char *msg_status_name(enum msg_status status)
{
    return name_of(statuses, MSG_STATUS_COUNT, status);
}
int msg_strategy_by_name(const char *name)
{
    return value_of(strategies, MSG_STRATEGY_COUNT, name);
}
int msg_policy_by_name(const char *name)
{
    return value_of(policies, MSG_POLICY_COUNT, name);
}
int msg_order_by_name(const char *name)
{
    return value_of(orders, MSG_ORDER_COUNT, name);
}
int msg_repair_by_name(const char *name)
{
    return value_of(repairs, MSG_REPAIR_COUNT, name);
}
int msg_expose_by_name(const char *name)
{
    return value_of(exposures, MSG_EXPOSE_COUNT, name);
}
int msg_status_by_name(const char *name)
{
    return value_of(statuses, MSG_STATUS_COUNT, name);
}

uint32_t msg_key_text(struct msg_key key, char out[MSG_KEY_TEXT])
{
    size_t len = digits_whole(key.partition, out);
    out[len++] = '-';
    return (uint32_t)(len + digits_whole(key.offset, out + len));
}

enum err_code msg_encode_request(struct msg_buffer *out, const struct msg_request *request)
{
    return msg_encode(out, MSG_KIND_REQUEST, &msg_request_record, request);
}

enum err_code msg_encode_task(struct msg_buffer *out, const struct msg_task *task)
{
    return msg_encode(out, MSG_KIND_TASK, &msg_task_record, task);
}

enum err_code msg_append_task(struct msg_buffer *out, const struct msg_task *task)
{
    return msg_append(out, MSG_KIND_TASK, &msg_task_record, task);
}

enum err_code msg_encode_result(struct msg_buffer *out, const struct msg_result *result)
{
    return msg_encode(out, MSG_KIND_RESULT, &msg_result_record, result);
}

enum err_code msg_append_result(struct msg_buffer *out, const struct msg_result *result)
{
    return msg_append(out, MSG_KIND_RESULT, &msg_result_record, result);
}

enum err_code msg_encode_verdict(struct msg_buffer *out, const struct msg_verdict *verdict)
{
    return msg_encode(out, MSG_KIND_VERDICT, &msg_verdict_record, verdict);
}

/* Reports a missing mandatory field. */
static enum err_code missing(struct err *err, const char *field)
{
    return err_set(err, ERR_MALFORMED, "field %s is missing", field);
}

enum err_code msg_decode_request(struct arena *arena, const void *bytes, size_t len, struct msg_request **out,
                                 struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode(arena, MSG_KIND_REQUEST, &msg_request_record, bytes, len, &message, err);
    *out = message;
    if (code) return code;
    if (!(*out)->db) return missing(err, "db");
    for (uint32_t i = 0; i < (*out)->n_candidates; i++)
        if (!(*out)->candidates[i].sql.bytes) return missing(err, "candidate.sql");
    return ERR_OK;
}

static enum err_code check_task(const struct msg_task *task, struct err *err)
{
    if (!task->db) return missing(err, "db");
    if (!task->family) return missing(err, "family");
    return task->sql.bytes ? ERR_OK : missing(err, "sql");
}

enum err_code msg_decode_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out,
                              struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode(arena, MSG_KIND_TASK, &msg_task_record, bytes, len, &message, err);
    *out = message;
    return code ? code : check_task(*out, err);
}

enum err_code msg_next_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out, size_t *used,
                            struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode_first(arena, MSG_KIND_TASK, &msg_task_record, bytes, len, &message, used, err);
    *out = message;
    return code ? code : check_task(*out, err);
}

static enum err_code check_result(const struct msg_result *result, struct err *err)
{
    if (!result->family) return missing(err, "family");
    return result->code ? ERR_OK : missing(err, "code");
}

enum err_code msg_decode_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out,
                                struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode(arena, MSG_KIND_RESULT, &msg_result_record, bytes, len, &message, err);
    *out = message;
    return code ? code : check_result(*out, err);
}

enum err_code msg_next_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out, size_t *used,
                              struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode_first(arena, MSG_KIND_RESULT, &msg_result_record, bytes, len, &message, used, err);
    *out = message;
    return code ? code : check_result(*out, err);
}

enum err_code msg_decode_verdict(struct arena *arena, const void *bytes, size_t len, struct msg_verdict **out,
                                 struct err *err)
{
    void *message = NULL;
    enum err_code code = msg_decode(arena, MSG_KIND_VERDICT, &msg_verdict_record, bytes, len, &message, err);
    *out = message;
    if (code) return code;
    return (*out)->chosen <= (*out)->n_candidates
               ? ERR_OK
               : err_set(err, ERR_MALFORMED, "the value of field 'chosen' is out of range");
}

enum err_code msg_decode_verdict_own(const void *bytes, size_t len, struct msg_verdict **out, struct err *err)
{
    *out = NULL;
    struct arena *arena = malloc(sizeof *arena);
    if (!arena) return err_set(err, ERR_NOMEM, "no memory for a verdict");
    arena_init(arena, (size_t)16 * MSG_MAX_BYTES);
    enum err_code code = msg_decode_verdict(arena, bytes, len, out, err);
    if (code) {
        arena_free(arena);
        free(arena);
        *out = NULL;
        return code;
    }
    (*out)->arena = arena;
    return ERR_OK;
}

void msg_verdict_free(struct msg_verdict *verdict)
{
    if (!verdict || !verdict->arena) return;
    struct arena *arena = verdict->arena;
    arena_free(arena);
    free(arena);
}
