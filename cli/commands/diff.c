/* assay diff: two sets of verdicts on the same requests. The design is in eval/diff.h. */
#include "cli/output/diff_output.h"
#include "cli/settings/engine_settings.h"

#include <errno.h>
#include <string.h>

struct diff {
    struct cli *cli;
    const char *names[2];
    unsigned indexed; /* the side that is indexed: 0 is A, 1 is B */
    struct lines lines[2], log;
    struct diff_ids ids, golds; /* golds: of the log of --log */
    struct diff_rules rules;
    struct diff_totals totals;
    struct diff_gold *gold;
    struct diff_writer *writer;
    struct engine_config config; /* its databases */
    struct arena arena;          /* of one request of the log */
    uint64_t bad_requests;
    bool failed; /* something stopped the comparison; it has been said */
};

static uint32_t short_line(uint64_t line)
{
    return (uint32_t)MIN(line, UINT32_MAX);
}

static void say(struct diff *d, const struct lines *lines, const struct err *err)
{
    (void)d;
    complain("%s:%llu: %s", lines->path, (unsigned long long)lines->number,
             err->text[0] ? err->text : err_meaning(err->code));
}

/* The next verdict of a side; a line that is not a verdict is reported and counted. 1, 0 at the end or (with d->failed)
 * to stop. */
static int next_verdict(struct diff *d, unsigned side, struct diff_verdict *out)
{
    struct err err = {0};
    for (;;) {
        int more = lines_next(&d->lines[side]);
        if (more < 0) {
            complain("%s: cannot be read: %s", d->names[side], lines_error(&d->lines[side]));
            d->failed = true;
        }
        if (more <= 0) return 0;
        if (diff_verdict_read(&d->lines[side], out, &err)) break;
        say(d, &d->lines[side], &err);
        d->totals.bad[side]++;
    }
    d->totals.verdicts[side]++;
    return 1;
}

/* The entry of an id; a new one is where `lines` stands. NULL: too many, and d->failed is set. */
static struct diff_id *take_id(struct diff *d, struct diff_ids *ids, const struct lines *lines, const char *id,
                               bool *fresh)
{
    struct diff_id *entry = diff_ids_take(ids, id, fresh);
    if (!entry) {
        complain("%s: more than %d ids", lines->path, DIFF_MAX_IDS);
        d->failed = true;
    } else if (*fresh) {
        entry->start = lines->start;
        entry->line = short_line(lines->number);
    }
    return entry;
}

/* The first verdict of a request is the one that counts; later ones are listed. */
static void repeated(struct diff *d, unsigned side, const struct diff_verdict *verdict)
{
    d->totals.repeated[side]++;
    diff_write_lone(d->writer, verdict->id, side, verdict->line, false);
}

static void index_side(struct diff *d)
{
    struct diff_verdict verdict;
    while (!d->failed && next_verdict(d, d->indexed, &verdict)) {
        bool fresh = false;
        const struct diff_id *entry = take_id(d, &d->ids, &d->lines[d->indexed], verdict.id, &fresh);
        if (entry && !fresh) repeated(d, d->indexed, &verdict);
        diff_verdict_free(&verdict);
    }
}

static bool read_request(struct diff *d, struct msg_request **out, struct err *err)
{
    arena_reset(&d->arena);
    if (d->log.too_long)
        return err_set(err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES), false;
    if (msg_request_from_json(&d->arena, d->log.text, d->log.len, out, err) != ERR_OK) return false;
    if (!(*out)->id) (*out)->id = arena_printf(&d->arena, "line-%llu", (unsigned long long)d->log.number);
    return (*out)->id != NULL;
}

static void index_log(struct diff *d)
{
    int more;
    while (!d->failed && (more = lines_next(&d->log)) != 0) {
        struct msg_request *request = NULL;
        struct err err = {0};
        bool fresh;
        if (more < 0) {
            complain("%s: cannot be read: %s", d->log.path, lines_error(&d->log));
            d->failed = true;
        } else if (read_request(d, &request, &err)) {
            take_id(d, &d->golds, &d->log, request->id, &fresh);
        } else {
            say(d, &d->log, &err);
            d->bad_requests++;
        }
    }
}

/* Gold comes with the verdict, on either side, or from the log. */
static void measure(struct diff *d, struct diff_pair *pair)
{
    const struct diff_verdict *a = &pair->side[0], *b = &pair->side[1];
    const char *sql = b->gold ? b->gold : a->gold, *db = b->db ? b->db : a->db;
    const struct diff_id *entry = d->log.file ? diff_ids_find(&d->golds, a->id) : NULL;
    struct msg_request *request = NULL;
    struct err err = {0};
    if (entry && lines_at(&d->log, entry->start, entry->line) > 0 && read_request(d, &request, &err)) {
        sql = request->gold;
        db = request->db;
    }
    err = (struct err){0};
    if (diff_measure(d->gold, pair, db, sql, &d->totals, &err))
        complain("%s: not measured: %s", pair->side[1].id, err.text[0] ? err.text : err_meaning(err.code));
}

/* The verdict that the index knows, read again. */
static bool read_indexed(struct diff *d, const struct diff_id *entry, struct diff_verdict *out)
{
    struct lines *lines = &d->lines[d->indexed];
    struct err err = {0};
    if (lines_at(lines, entry->start, entry->line) > 0 && diff_verdict_read(lines, out, &err)) return true;
    complain("%s:%u: the file was changed meanwhile", lines->path, entry->line);
    d->failed = true;
    return false;
}

static void compare(struct diff *d, struct diff_pair *pair)
{
    g_array_set_size(pair->signals, 0);
    diff_compare(pair, &d->rules);
    measure(d, pair);
    diff_count(&d->totals, pair);
    if (pair->fields) diff_write_pair(d->writer, pair);
}

static void stream_verdict(struct diff *d, struct diff_pair *pair)
{
    unsigned side = !d->indexed;
    bool fresh = false;
    struct diff_verdict *verdict = &pair->side[side], *partner = &pair->side[d->indexed];
    struct diff_id *entry = take_id(d, &d->ids, &d->lines[side], verdict->id, &fresh);
    if (!entry) return;
    if (fresh) {
        entry->foreign = true;
        d->totals.only[side]++;
        diff_write_lone(d->writer, verdict->id, side, verdict->line, true);
    } else if (entry->foreign || entry->matched) {
        repeated(d, side, verdict);
    } else if (read_indexed(d, entry, partner)) {
        entry->matched = true;
        compare(d, pair);
        diff_verdict_free(partner);
    }
}

static void stream_side(struct diff *d)
{
    struct diff_pair pair = {.signals = g_array_new(FALSE, FALSE, sizeof(struct diff_signal))};
    while (!d->failed && next_verdict(d, !d->indexed, &pair.side[!d->indexed])) {
        stream_verdict(d, &pair);
        diff_verdict_free(&pair.side[!d->indexed]);
    }
    g_array_free(pair.signals, TRUE);
}

/* Verdicts of the indexed side that have no partner on the other. */
static void list_unmatched(struct diff *d)
{
    for (uint32_t i = 0; i < d->ids.n && !d->failed; i++) {
        const struct diff_id *entry = &d->ids.all[i];
        struct diff_verdict verdict;
        if (entry->matched || entry->foreign || !read_indexed(d, entry, &verdict)) continue;
        d->totals.only[d->indexed]++;
        diff_write_lone(d->writer, verdict.id, d->indexed, verdict.line, true);
        diff_verdict_free(&verdict);
    }
}

/* --- the run ---------------------------------------------------------------------------------------------------- */

static int exit_code(const struct diff *d)
{
    const struct diff_totals *t = &d->totals;
    if (d->failed || t->bad[0] || t->bad[1] || d->bad_requests) return EXIT_ERROR;
    if (!t->verdicts[0] && !t->verdicts[1]) {
        complain("neither file holds a verdict");
        return EXIT_ERROR;
    }
    bool same = !t->changed && !t->only[0] && !t->only[1] && !t->repeated[0] && !t->repeated[1];
    return same ? 0 : EXIT_JUDGED;
}

static bool open_all(struct diff *d)
{
    const char *log = d->cli->settings.diff.log;
    struct err err = {0};
    for (int i = 0; i < 2; i++) {
        if (lines_open(d->names[i], &d->lines[i], &err) == ERR_OK) continue;
        complain_err(d->names[i], &err);
        return false;
    }
    if (!log || lines_open(log, &d->log, &err) == ERR_OK) return true;
    complain_err(log, &err);
    return false;
}

/* Which side is read twice: A, unless it is not a regular file. */
static bool choose_indexed(struct diff *d)
{
    const char *log = d->cli->settings.diff.log;
    d->indexed = g_file_test(d->names[0], G_FILE_TEST_IS_REGULAR) ? 0 : 1;
    if (log && !g_file_test(log, G_FILE_TEST_IS_REGULAR) && g_file_test(log, G_FILE_TEST_EXISTS)) {
        complain("%s is read twice, so it must be a regular file", log);
        return false;
    }
    if (d->indexed == 0 || g_file_test(d->names[1], G_FILE_TEST_IS_REGULAR)) return true;
    for (int i = 0; i < 2; i++)
        if (strcmp(d->names[i], "-") != 0 && !g_file_test(d->names[i], G_FILE_TEST_EXISTS))
            return true; /* said later */
    complain("one of the two is read twice, so it must be a regular file");
    return false;
}

static void diff_all(struct diff *d, enum format format)
{
    d->writer = diff_writer_new(format, d->names, (uint64_t)d->cli->settings.diff.list, stdout);
    d->gold = diff_gold_new(d->cli->settings.diff.gold ? &d->config.databases : NULL);
    if (d->log.file) index_log(d);
    index_side(d);
    if (!d->failed) stream_side(d);
    if (!d->failed) list_unmatched(d);
    diff_writer_end(d->writer, d->failed ? NULL : &d->totals);
    diff_gold_free(d->gold);
}

static int diff_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    if (cli->settings.diff.gold && !engine_settings_has_databases(cli)) return EXIT_ERROR;
    struct diff *d = g_new0(struct diff, 1);
    *d = (struct diff){.cli = cli, .names = {cli->args[0], cli->args[1]}};
    d->rules = (struct diff_rules){cli->settings.diff.tolerance, cli->settings.diff.explanations};
    d->totals.signals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    diff_ids_init(&d->ids);
    diff_ids_init(&d->golds);
    arena_init(&d->arena, 0);
    engine_settings(cli, &d->config);
    int code = EXIT_ERROR;
    if (choose_indexed(d) && open_all(d)) {
        diff_all(d, format);
        code = exit_code(d);
    }
    for (int i = 0; i < 2; i++) lines_close(&d->lines[i]);
    lines_close(&d->log);
    arena_free(&d->arena);
    diff_ids_free(&d->golds);
    diff_ids_free(&d->ids);
    g_hash_table_destroy(d->totals.signals);
    g_free(d);
    return code;
}

const struct command command_diff = {
    .name = "diff",
    .sentence = "compare two sets of verdicts on the same requests",
    .args = "A B",
    .description =
        "A and B hold verdicts, one a line, as assay replay --out writes them or as they stand in the topic of "
        "verdicts. "
        "Requests are matched by id, in whatever order; one of the two may be - or a pipe. Listed is each request "
        "whose "
        "verdict changed: its status or reason, the answer (by normal form, so spelling does not count), p_correct by "
        "more than --tolerance, the signals of its candidates and, with --explanations, what is said of them. Ids that "
        "one side lacks and second verdicts on an id are listed too; of several the first counts. A summary follows: "
        "statuses, how far p_correct moved, what each signal gained and lost.\n\n"
        "Where gold is known (it passes through from the request, or comes from --log) the summary says which answers "
        "got better or worse, with the exact sign test (McNemar's) of the difference. With --gold both answers and the "
        "gold query are run and compared as assay eval does; otherwise an answer is right when its normal form is "
        "gold's, and of any other that was given nothing is said: it may be right in other words.\n\n"
        "A line that is no verdict is reported with its number. Memory is about 45 bytes a verdict, and the longest "
        "line.\n\n"
        "The exit status is 0 when nothing changed, 1 when something did, 2 when a line could not be read or the "
        "comparison could not be made.",
    .examples = "assay diff before.jsonl after.jsonl\n"
                "assay diff before.jsonl after.jsonl --gold --db-root databases --format json | jq .summary.gold\n"
                "kcat -C -e -t assay.verdicts -b kafka:9092 | assay diff before.jsonl -",
    .main_flags = "gold db-root log list tolerance format",
    .groups =
        (const struct option_group *const[]){&options_diff, &options_output, &options_database, &options_general, NULL},
    .min_args = 2,
    .max_args = 2,
    .run = diff_run,
};
