/* Compares two files of verdicts. diff.h describes the design. */
#include "eval/diff.h"
#include "eval/log_index.h"

#include <string.h>

struct comparison {
    const struct diff_files *asked;
    unsigned indexed; /* the indexed side: 0 is A, 1 is B */
    struct lines lines[2];
    struct diff_ids ids;
    struct log_index *log; /* source of gold, or NULL */
    struct diff_totals *totals;
    struct diff_gold *gold;
    struct err *err;
    bool failed; /* the comparison stopped with the error in err */
};

static void stop(struct comparison *d, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void stop(struct comparison *d, enum err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    err_set(d->err, code, "%s", text);
    g_free(text);
    d->failed = true;
}

/* Reports an omitted line and the reason. */
static void say(const struct comparison *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct comparison *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (d->asked->left_out) d->asked->left_out(d->asked->ctx, text);
    g_free(text);
}

static void say_line(const struct comparison *d, const struct lines *lines, const struct err *err)
{
    say(d, "%s:%llu: %s", lines->path, (unsigned long long)lines->number,
        err->text[0] ? err->text : err_meaning(err->code));
}

static uint32_t short_line(uint64_t line)
{
    return (uint32_t)MIN(line, UINT32_MAX);
}

/* Reads the next verdict of a side; reports and counts lines that are not verdicts. Returns 1 for a verdict and 0 at
 * the end. Also returns 0, and sets d->failed, after an error. */
static int next_verdict(struct comparison *d, unsigned side, struct diff_verdict *out)
{
    struct err err = {0};
    for (;;) {
        int more = lines_next(&d->lines[side]);
        if (more < 0) {
            stop(d, ERR_IO, "%s: cannot be read: %s", d->asked->names[side], lines_error(&d->lines[side]));
        }
        if (more <= 0) return 0;
        if (d->asked->most && d->totals->verdicts[side] == d->asked->most) {
            stop(d, ERR_LIMIT_COUNT, "%s: more than %llu verdicts", d->asked->names[side],
                 (unsigned long long)d->asked->most);
            return 0;
        }
        if (diff_verdict_read(&d->lines[side], out, &err)) break;
        say_line(d, &d->lines[side], &err);
        d->totals->bad[side]++;
    }
    d->totals->verdicts[side]++;
    return 1;
}

/* Returns the entry of an id. A new entry gets the position of the current line. Returns NULL and sets d->failed if
 * there are too many. */
static struct diff_id *take_id(struct comparison *d, const struct lines *lines, const char *id, bool *fresh)
{
    struct diff_id *entry = diff_ids_take(&d->ids, id, fresh);
    if (!entry) {
        stop(d, ERR_LIMIT_COUNT, "%s: more than %d ids", lines->path, DIFF_MAX_IDS);
    } else if (*fresh) {
        entry->start = lines->start;
        entry->line = short_line(lines->number);
    }
    return entry;
}

/* Reports a later verdict of the same request. Only the first one counts. */
static void repeated(struct comparison *d, unsigned side, const struct diff_verdict *verdict)
{
    d->totals->repeated[side]++;
    d->asked->lone(d->asked->ctx, verdict->id, side, verdict->line, false);
}

static void index_side(struct comparison *d)
{
    struct diff_verdict verdict;
    while (!d->failed && next_verdict(d, d->indexed, &verdict)) {
        bool fresh = false;
        const struct diff_id *entry = take_id(d, &d->lines[d->indexed], verdict.id, &fresh);
        if (entry && !fresh) repeated(d, d->indexed, &verdict);
        diff_verdict_free(&verdict);
    }
}

static void say_bad_request(void *ctx, const struct lines *lines, const struct err *err)
{
    struct comparison *d = ctx;
    say_line(d, lines, err);
    d->totals->bad_requests++;
}

/* Labels the answers of a pair. The gold query is in the verdict of either side, or in the log. */
static void measure(struct comparison *d, struct diff_pair *pair)
{
    const struct diff_verdict *a = &pair->side[0], *b = &pair->side[1];
    const char *sql = b->gold ? b->gold : a->gold, *db = b->db ? b->db : a->db;
    const struct msg_request *request = d->log ? log_index_find(d->log, a->id) : NULL;
    struct err err = {0};
    if (request) {
        sql = request->gold;
        db = request->db;
    }
    if (diff_measure(d->gold, pair, db, sql, d->totals, &err))
        say(d, "%s: not measured: %s", pair->side[1].id, err.text[0] ? err.text : err_meaning(err.code));
}

/* Reads the indexed verdict again. */
static bool read_indexed(struct comparison *d, const struct diff_id *entry, struct diff_verdict *out)
{
    struct lines *lines = &d->lines[d->indexed];
    struct err err = {0};
    if (lines_at(lines, entry->start, entry->line) > 0 && diff_verdict_read(lines, out, &err)) return true;
    stop(d, ERR_IO, "%s:%u: the file changed during the comparison", lines->path, entry->line);
    return false;
}

static void compare(struct comparison *d, struct diff_pair *pair)
{
    g_array_set_size(pair->signals, 0);
    diff_compare(pair, &d->asked->rules);
    measure(d, pair);
    diff_count(d->totals, pair);
    if (pair->fields) d->asked->pair(d->asked->ctx, pair);
}

static void stream_verdict(struct comparison *d, struct diff_pair *pair)
{
    unsigned side = !d->indexed;
    bool fresh = false;
    struct diff_verdict *verdict = &pair->side[side], *partner = &pair->side[d->indexed];
    struct diff_id *entry = take_id(d, &d->lines[side], verdict->id, &fresh);
    if (!entry) return;
    if (fresh) {
        entry->foreign = true;
        d->totals->only[side]++;
        d->asked->lone(d->asked->ctx, verdict->id, side, verdict->line, true);
    } else if (entry->foreign || entry->matched) {
        repeated(d, side, verdict);
    } else if (read_indexed(d, entry, partner)) {
        entry->matched = true;
        compare(d, pair);
        diff_verdict_free(partner);
    }
}

static void stream_side(struct comparison *d)
{
    struct diff_pair pair = {.signals = g_array_new(FALSE, FALSE, sizeof(struct diff_signal))};
    while (!d->failed && next_verdict(d, !d->indexed, &pair.side[!d->indexed])) {
        stream_verdict(d, &pair);
        diff_verdict_free(&pair.side[!d->indexed]);
    }
    g_array_free(pair.signals, TRUE);
}

/* Lists verdicts of the indexed side that the other side lacks. */
static void list_unmatched(struct comparison *d)
{
    for (uint32_t i = 0; i < d->ids.n && !d->failed; i++) {
        const struct diff_id *entry = &d->ids.all[i];
        struct diff_verdict verdict;
        if (entry->matched || entry->foreign || !read_indexed(d, entry, &verdict)) continue;
        d->totals->only[d->indexed]++;
        d->asked->lone(d->asked->ctx, verdict.id, d->indexed, verdict.line, true);
        diff_verdict_free(&verdict);
    }
}

/* --- the files -------------------------------------------------------------------------------------------------- */

static void open_one(struct comparison *d, const char *name, struct lines *lines)
{
    struct err err = {0};
    if (!d->failed && lines_open(name, lines, &err) != ERR_OK) stop(d, err.code, "%s: %s", name, err.text);
}

/* Chooses the indexed side, which is read twice: A if it is a regular file, otherwise B. */
static void choose_indexed(struct comparison *d)
{
    const char *const *names = d->asked->names, *log = d->asked->log;
    d->indexed = g_file_test(names[0], G_FILE_TEST_IS_REGULAR) ? 0 : 1;
    if (log && !g_file_test(log, G_FILE_TEST_IS_REGULAR) && g_file_test(log, G_FILE_TEST_EXISTS)) {
        stop(d, ERR_USAGE, "%s is read twice, so it must be a regular file", log);
        return;
    }
    if (d->indexed == 0 || g_file_test(names[1], G_FILE_TEST_IS_REGULAR)) return;
    for (int i = 0; i < 2; i++) /* opening the file reports the error */
        if (strcmp(names[i], "-") != 0 && !g_file_test(names[i], G_FILE_TEST_EXISTS)) return;
    stop(d, ERR_USAGE, "one of the two files is read twice, so it must be a regular file");
}

enum err_code diff_files(const struct diff_files *asked, struct diff_totals *totals, struct err *err)
{
    struct err own = {0};
    struct comparison d = {.asked = asked, .totals = totals, .err = err ? err : &own};
    diff_ids_init(&d.ids);
    d.gold = diff_gold_new(asked->databases);
    choose_indexed(&d);
    for (int i = 0; i < 2; i++) open_one(&d, asked->names[i], &d.lines[i]);
    if (!d.failed && asked->log) d.failed = log_index_open(asked->log, say_bad_request, &d, &d.log, d.err) != ERR_OK;
    if (!d.failed) index_side(&d);
    if (!d.failed) stream_side(&d);
    if (!d.failed) list_unmatched(&d);
    for (int i = 0; i < 2; i++) lines_close(&d.lines[i]);
    log_index_close(d.log);
    diff_gold_free(d.gold);
    diff_ids_free(&d.ids);
    return d.failed ? d.err->code : ERR_OK;
}
