/* Builds an index in one pass: one row for each line with a verdict. */
#include "eval/diff.h"
#include "eval/log_index.h"
#include "eval/runs/run_index_int.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROGRESS_ROWS = 1000, /* number of rows between two reports of progress */
    /* maximum number of cached labels; a log repeats the same databases, gold queries and answers */
    LABELS = 200000
};

static const char SCHEMA[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE name(kind INTEGER NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(kind, id)) WITHOUT "
    "ROWID;"
    "CREATE TABLE verdict(number INTEGER PRIMARY KEY, db INTEGER, status INTEGER NOT NULL, reason INTEGER, p REAL,"
    " threshold REAL, chosen INTEGER, candidates INTEGER NOT NULL, iterations INTEGER NOT NULL, ms REAL,"
    " fired INTEGER NOT NULL, right INTEGER, start INTEGER NOT NULL, length INTEGER NOT NULL);"
    /* a separate table, so that numeric filters do not read it */
    "CREATE TABLE text(number INTEGER PRIMARY KEY, id TEXT NOT NULL, question TEXT);";

/* The indexes are created at the end, because rows do not arrive in these orders. */
static const char INDEXES[] = "CREATE INDEX verdict_by_p ON verdict(p); CREATE INDEX verdict_by_ms ON verdict(ms);";

/* Names of one kind, numbered in order of appearance. Names beyond the bound become RUN_OTHERS. */
struct names {
    GHashTable *ids; /* name → 1 + id */
    GPtrArray *all;
    guint bound;
};

struct build {
    const struct run_index_build *asked;
    struct lines lines;
    struct log_index *log; /* NULL if there is none */
    struct names names[RUN_NAME_KINDS];
    struct labeler *labeler;
    GHashTable *labels; /* digest of database, gold and answer → 1 wrong, 2 right, 3 unknown */
    struct run_tally *tally;
    struct run_pass pass;
    sqlite3 *db;
    sqlite3_stmt *verdict, *text;
    char *path;
    struct err *err;
};

/* --- names ------------------------------------------------------------------------------------------------------ */

static void names_init(struct names *names, guint bound)
{
    *names = (struct names){g_hash_table_new(g_str_hash, g_str_equal), g_ptr_array_new_with_free_func(g_free), bound};
}

static void names_free(struct names *names)
{
    if (!names->ids) return;
    g_hash_table_destroy(names->ids);
    g_ptr_array_unref(names->all);
}

/* Returns the text cut to at most `bytes` bytes, in whole characters. Free with g_free. */
static char *cut(const char *text, size_t bytes)
{
    size_t len = strlen(text);
    if (len > bytes)
        for (len = bytes; len && ((unsigned char)text[len] & 0xc0) == 0x80;) len--;
    return g_strndup(text, len);
}

static guint name_id(struct names *names, const char *name)
{
    gpointer known = g_hash_table_lookup(names->ids, name);
    if (known) return GPOINTER_TO_UINT(known) - 1;
    if (names->all->len + 1 == names->bound && strcmp(name, RUN_OTHERS) != 0) return name_id(names, RUN_OTHERS);
    if (names->all->len == names->bound) return names->bound - 1;
    char *kept = cut(name, RUN_NAME_BYTES);
    known = g_hash_table_lookup(names->ids, kept);
    if (known) {
        g_free(kept);
        return GPOINTER_TO_UINT(known) - 1;
    }
    g_ptr_array_add(names->all, kept);
    g_hash_table_insert(names->ids, kept, GUINT_TO_POINTER(names->all->len));
    return names->all->len - 1;
}

/* --- the fields of a verdict ------------------------------------------------------------------------------------ */

static double number_at(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Sets the bits of the candidate's signals. The caller passes the answer's candidate, or the first candidate if there
 * is no answer. */
static void read_signals(struct build *b, const json_t *candidate, struct run_row *row)
{
    json_t *signals = json_object_get(candidate, "signals"), *state;
    const char *name;
    json_object_foreach(signals, name, state)
    {
        const char *text = json_string_value(state);
        if (!text) continue;
        uint64_t bit = UINT64_C(1) << name_id(&b->names[RUN_SIGNAL], name);
        if (strcmp(text, msg_state_name(MSG_FIRED)) == 0) row->fired |= bit;
        if (strcmp(text, msg_state_name(MSG_UNAVAILABLE)) == 0) row->missing |= bit;
    }
}

static void read_row(struct build *b, const struct diff_verdict *verdict, struct run_row *row)
{
    const json_t *candidates = json_object_get(verdict->json, "candidates"),
                 *chosen = json_object_get(verdict->json, "chosen");
    json_int_t at = json_is_integer(chosen) ? json_integer_value(chosen) : -1;
    size_t n = json_array_size(candidates);
    *row = (struct run_row){.id = verdict->id,
                            .db = verdict->db ? verdict->db : "",
                            .reason = verdict->reason,
                            .status = (int)verdict->status,
                            .p = verdict->p,
                            .threshold = number_at(verdict->json, "threshold"),
                            .ms = number_at(json_object_get(verdict->json, "timings"), "total_ms"),
                            .chosen = at >= 0 && (size_t)at < n ? (int)at : -1,
                            .candidates = (uint32_t)n,
                            .right = -1,
                            .answered = verdict->sql != NULL,
                            .start = b->lines.start,
                            .length = (uint32_t)b->lines.len};
    json_int_t iterations = json_integer_value(json_object_get(verdict->json, "iterations"));
    row->iterations = iterations > 0 ? (uint32_t)MIN(iterations, UINT32_MAX) : 0;
    read_signals(b, json_array_get(candidates, row->chosen < 0 ? 0 : (size_t)row->chosen), row);
}

/* --- labels ----------------------------------------------------------------------------------------------------- */

enum truth { TRUTH_WRONG = 1, TRUTH_RIGHT, TRUTH_UNKNOWN };

static enum truth run_label(struct build *b, const char *db, const char *gold, const char *sql)
{
    struct msg_judged answer = {.sql = {sql, (uint32_t)strlen(sql)}};
    struct arena arena;
    struct labels labels;
    arena_init(&arena, 0);
    enum err_code code = label_line(b->labeler, &arena, db, gold, &answer, 1, &labels, NULL);
    enum truth truth = code || labels.gold_failed    ? TRUTH_UNKNOWN
                       : labels.of[0] == LABEL_RIGHT ? TRUTH_RIGHT
                                                     : TRUTH_WRONG;
    arena_free(&arena);
    return truth;
}

static guint64 label_key(const char *db, const char *gold, const char *sql)
{
    XXH64_hash_t hash = XXH3_64bits(db, strlen(db) + 1);
    hash = XXH3_64bits_withSeed(gold, strlen(gold) + 1, hash);
    return XXH3_64bits_withSeed(sql, strlen(sql) + 1, hash);
}

static void label(struct build *b, const struct diff_verdict *verdict, const char *gold, struct run_row *row)
{
    row->has_gold = gold != NULL;
    if (!gold || !b->labeler || !verdict->sql || !verdict->db) return;
    guint64 key = label_key(verdict->db, gold, verdict->sql);
    enum truth truth = (enum truth)GPOINTER_TO_INT(g_hash_table_lookup(b->labels, &key));
    if (!truth) {
        truth = run_label(b, verdict->db, gold, verdict->sql);
        if (g_hash_table_size(b->labels) == LABELS) g_hash_table_remove_all(b->labels);
        g_hash_table_insert(b->labels, g_memdup2(&key, sizeof key), GINT_TO_POINTER(truth));
    }
    b->pass.gold_failed += truth == TRUTH_UNKNOWN;
    if (truth != TRUTH_UNKNOWN) row->right = truth == TRUTH_RIGHT;
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static void bind_real(sqlite3_stmt *stmt, int at, double value)
{
    if (isnan(value))
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_double(stmt, at, value);
}

static void bind_unless_negative(sqlite3_stmt *stmt, int at, int value)
{
    if (value < 0)
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_int(stmt, at, value);
}

static bool step(sqlite3_stmt *stmt)
{
    bool done = sqlite3_step(stmt) == SQLITE_DONE;
    return sqlite3_reset(stmt) == SQLITE_OK && done;
}

static bool insert_text(struct build *b, const struct run_row *row)
{
    char *id = cut(row->id, RUN_NAME_BYTES), *question = row->question ? cut(row->question, RUN_QUESTION_BYTES) : NULL;
    sqlite3_bind_int64(b->text, 1, (sqlite3_int64)b->pass.verdicts);
    sqlite3_bind_text(b->text, 2, id, -1, SQLITE_STATIC);
    sqlite3_bind_text(b->text, 3, question, -1, SQLITE_STATIC);
    bool done = step(b->text);
    g_free(id);
    g_free(question);
    return done;
}

static enum err_code insert(struct build *b, const struct run_row *row)
{
    guint db = name_id(&b->names[RUN_DATABASE], row->db);
    int reason = row->reason ? (int)name_id(&b->names[RUN_REASON], row->reason) : -1;
    b->pass.verdicts++;
    sqlite3_bind_int64(b->verdict, 1, (sqlite3_int64)b->pass.verdicts);
    sqlite3_bind_int(b->verdict, 2, (int)db);
    sqlite3_bind_int(b->verdict, 3, row->status);
    bind_unless_negative(b->verdict, 4, reason);
    bind_real(b->verdict, 5, row->p);
    bind_real(b->verdict, 6, row->threshold);
    bind_unless_negative(b->verdict, 7, row->chosen);
    sqlite3_bind_int64(b->verdict, 8, row->candidates);
    sqlite3_bind_int64(b->verdict, 9, row->iterations);
    bind_real(b->verdict, 10, row->ms);
    sqlite3_bind_int64(b->verdict, 11, (sqlite3_int64)row->fired);
    bind_unless_negative(b->verdict, 12, row->right);
    sqlite3_bind_int64(b->verdict, 13, (sqlite3_int64)row->start);
    sqlite3_bind_int64(b->verdict, 14, row->length);
    run_tally_add(b->tally, row, db);
    return step(b->verdict) && insert_text(b, row) ? ERR_OK : run_sqlite_failed(b->db, b->path, b->err);
}

static enum err_code take_line(struct build *b)
{
    struct diff_verdict verdict;
    struct run_row row;
    if (b->lines.too_long || b->lines.len > RUN_LINE_BYTES) return b->pass.too_long++, ERR_OK;
    if (!diff_verdict_read(&b->lines, &verdict, NULL)) return b->pass.broken++, ERR_OK;
    read_row(b, &verdict, &row);
    const struct msg_request *request = b->log ? log_index_find(b->log, verdict.id) : NULL;
    row.question = request ? request->question : NULL;
    label(b, &verdict, verdict.gold || !request ? verdict.gold : request->gold, &row);
    enum err_code code = insert(b, &row);
    diff_verdict_free(&verdict);
    return code;
}

static bool goes_on(const struct build *b)
{
    const struct run_progress progress = {b->lines.offset, b->lines.size, b->pass.verdicts};
    return !b->asked->progress || b->asked->progress(b->asked->ctx, &progress);
}

static enum err_code take_lines(struct build *b)
{
    int more = 0;
    enum err_code code = ERR_OK;
    for (uint64_t n = 0; !code && (more = lines_next(&b->lines)) > 0; n++) {
        code = take_line(b);
        if (!code && n % PROGRESS_ROWS == 0 && !goes_on(b))
            code = err_set(b->err, ERR_CANCELLED, "%s: indexing was cancelled", b->asked->path);
    }
    if (code) return code;
    if (more < 0) return err_set(b->err, ERR_IO, "%s: cannot be read: %s", b->asked->path, lines_error(&b->lines));
    if (!b->pass.verdicts) return err_set(b->err, ERR_MALFORMED, "%s: no line is a verdict", b->asked->path);
    return ERR_OK;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

static enum err_code run_sql(struct build *b, const char *sql)
{
    return sqlite3_exec(b->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK : run_sqlite_failed(b->db, b->path, b->err);
}

static enum err_code prepare(struct build *b, sqlite3_stmt **stmt, const char *sql)
{
    return sqlite3_prepare_v2(b->db, sql, -1, stmt, NULL) == SQLITE_OK ? ERR_OK
                                                                       : run_sqlite_failed(b->db, b->path, b->err);
}

/* Creates the file in the folder of the index, under a unique name, so that a rename publishes it. */
static enum err_code create(struct build *b)
{
    char *index = run_index_path(b->asked->path);
    b->path = g_strdup_printf("%s.XXXXXX", index);
    g_free(index);
    int file = g_mkstemp(b->path);
    if (file < 0) {
        enum err_code code = err_set(b->err, ERR_IO, "%s: cannot be written: %s", b->path, g_strerror(errno));
        g_clear_pointer(&b->path, g_free);
        return code;
    }
    struct stat status;
    /* the same users may read the index as the verdict file */
    if (fstat(fileno(b->lines.file), &status) == 0) fchmod(file, status.st_mode & 0666);
    close(file);
    if (sqlite3_open_v2(b->path, &b->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return run_sqlite_failed(b->db, b->path, b->err);
    char pragmas[160];
    g_snprintf(pragmas, sizeof pragmas,
               "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16384; PRAGMA application_id=%d; "
               "PRAGMA user_version=%d",
               RUN_APPLICATION_ID, RUN_INDEX_VERSION);
    enum err_code code = run_sql(b, pragmas);
    if (!code) code = run_sql(b, SCHEMA);
    if (!code) code = run_sql(b, "BEGIN");
    if (!code) code = prepare(b, &b->verdict, "INSERT INTO verdict VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    return code ? code : prepare(b, &b->text, "INSERT INTO text VALUES(?,?,?)");
}

static enum err_code keep_names(struct build *b)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code code = prepare(b, &stmt, "INSERT INTO name VALUES(?,?,?)");
    for (int kind = 0; kind < RUN_NAME_KINDS; kind++)
        for (guint i = 0; !code && i < b->names[kind].all->len; i++) {
            sqlite3_bind_int(stmt, 1, kind);
            sqlite3_bind_int(stmt, 2, (int)i);
            sqlite3_bind_text(stmt, 3, b->names[kind].all->pdata[i], -1, SQLITE_STATIC);
            if (!step(stmt)) code = run_sqlite_failed(b->db, b->path, b->err);
        }
    sqlite3_finalize(stmt);
    return code;
}

static enum err_code keep_about(struct build *b, const char *key, const char *value)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code code = prepare(b, &stmt, "INSERT INTO about VALUES(?,?)");
    if (code) return code;
    sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, value, -1, SQLITE_STATIC);
    if (!step(stmt)) code = run_sqlite_failed(b->db, b->path, b->err);
    sqlite3_finalize(stmt);
    return code;
}

static enum err_code keep_summary(struct build *b)
{
    const struct names *signals = &b->names[RUN_SIGNAL], *databases = &b->names[RUN_DATABASE];
    b->pass.bytes = b->lines.size;
    b->pass.labelled = b->labeler != NULL;
    b->pass.questions = b->log != NULL;
    b->pass.signals = (const char *const *)signals->all->pdata;
    b->pass.n_signals = signals->all->len;
    b->pass.databases = (const char *const *)databases->all->pdata;
    b->pass.n_databases = databases->all->len;
    b->pass.db = b->db;
    json_t *summary = run_tally_summary(b->tally, &b->pass);
    char *text = json_dumps(summary, JSON_COMPACT | JSON_REAL_PRECISION(6));
    enum err_code code =
        text ? keep_about(b, "summary", text) : err_set(b->err, ERR_NOMEM, "no memory for the summary");
    free(text);
    json_decref(summary);
    return code;
}

static enum err_code finish(struct build *b, const char *identity)
{
    enum err_code code = run_sql(b, INDEXES);
    if (!code) code = keep_names(b);
    if (!code) code = keep_summary(b);
    if (!code) code = keep_about(b, "file", identity);
    if (!code) code = run_sql(b, "COMMIT");
    if (code) return code;
    char *index = run_index_path(b->asked->path);
    if (rename(b->path, index) != 0)
        code = err_set(b->err, ERR_IO, "%s: cannot be written: %s", index, g_strerror(errno));
    g_free(index);
    return code;
}

static void close_file(struct build *b, bool keep)
{
    sqlite3_finalize(b->verdict);
    sqlite3_finalize(b->text);
    sqlite3_close(b->db);
    if (b->path && !keep) unlink(b->path);
    g_free(b->path);
}

static void build_init(struct build *b)
{
    const guint bounds[RUN_NAME_KINDS] = {RUN_NAMES, RUN_NAMES, RUN_SIGNALS};
    for (int kind = 0; kind < RUN_NAME_KINDS; kind++) names_init(&b->names[kind], bounds[kind]);
    if (b->asked->databases) b->labeler = labeler_new(b->asked->databases);
    b->labels = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    b->tally = run_tally_new();
}

static void build_free(struct build *b, bool keep)
{
    close_file(b, keep);
    for (int kind = 0; kind < RUN_NAME_KINDS; kind++) names_free(&b->names[kind]);
    if (b->labeler) labeler_free(b->labeler);
    g_hash_table_destroy(b->labels);
    run_tally_free(b->tally);
    lines_close(&b->lines);
    log_index_close(b->log);
}

enum err_code run_index_build(const struct run_index_build *asked, struct err *err)
{
    struct err own = {0};
    struct build b = {.asked = asked, .err = err ? err : &own};
    /* computed before reading, so a later change of the file makes the index stale */
    char *identity = run_identity(asked->path, b.err);
    if (!identity) return b.err->code;
    build_init(&b);
    enum err_code code = asked->log ? log_index_open(asked->log, NULL, NULL, &b.log, b.err) : ERR_OK;
    if (!code) code = lines_open(asked->path, &b.lines, b.err);
    if (!code) code = create(&b);
    if (!code) code = take_lines(&b);
    if (!code) code = finish(&b, identity);
    build_free(&b, code == ERR_OK);
    g_free(identity);
    return code;
}
