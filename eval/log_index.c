#include "eval/log_index.h"

#include "eval/diff.h"

struct log_index {
    struct lines lines;
    struct diff_ids ids;
    struct arena arena; /* memory of one request */
};

static struct msg_request *read_request(struct log_index *log, struct err *err)
{
    struct msg_request *request = NULL;
    arena_reset(&log->arena);
    if (log->lines.too_long) {
        err_set(err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES);
        return NULL;
    }
    if (msg_request_from_json(&log->arena, log->lines.text, log->lines.len, &request, err) != ERR_OK) return NULL;
    if (!request->id) request->id = arena_printf(&log->arena, "line-%llu", (unsigned long long)log->lines.number);
    return request->id ? request : NULL;
}

/* Indexes the current line under `id`. Returns false if there are too many ids. */
static bool take(struct log_index *log, const char *id)
{
    bool fresh;
    struct diff_id *entry = diff_ids_take(&log->ids, id, &fresh);
    if (entry && fresh) {
        entry->start = log->lines.start;
        entry->line = (uint32_t)MIN(log->lines.number, UINT32_MAX);
    }
    return entry != NULL;
}

enum err_code log_index_open(const char *path, void (*bad)(void *ctx, const struct lines *lines, const struct err *err),
                             void *ctx, struct log_index **out, struct err *err)
{
    struct log_index *log = *out = g_new0(struct log_index, 1);
    int more = 0;
    diff_ids_init(&log->ids);
    arena_init(&log->arena, 0);
    struct err why = {0};
    enum err_code code = lines_open(path, &log->lines, &why);
    if (code) err_at(err, code, &why, "%s", path);
    while (!code && (more = lines_next(&log->lines)) > 0) {
        why = (struct err){0};
        const struct msg_request *request = read_request(log, &why);
        if (!request && bad)
            bad(ctx, &log->lines, &why);
        else if (request && !take(log, request->id))
            code = err_set(err, ERR_LIMIT_COUNT, "%s: more than %d ids", path, DIFF_MAX_IDS);
    }
    if (more < 0) code = err_set(err, ERR_IO, "%s: cannot be read: %s", path, lines_error(&log->lines));
    if (code) {
        log_index_close(log);
        *out = NULL;
    }
    return code;
}

void log_index_close(struct log_index *log)
{
    if (!log) return;
    lines_close(&log->lines);
    diff_ids_free(&log->ids);
    arena_free(&log->arena);
    g_free(log);
}

const struct msg_request *log_index_find(struct log_index *log, const char *id)
{
    const struct diff_id *entry = diff_ids_find(&log->ids, id);
    if (!entry || lines_at(&log->lines, entry->start, entry->line) <= 0) return NULL;
    return read_request(log, NULL);
}
