/* Lists the verdicts of a run: filtered, sorted, one page at a time. */
#include "eval/diff.h"
#include "eval/runs/run_index_int.h"

#include <string.h>

static const struct {
    const char *name, *sql;
} sorts[RUN_SORT_COUNT] = {
#define X(id, name, sql) {name, sql},
    RUN_SORTS(X)
#undef X
};

int run_sort_by_name(const char *name)
{
    for (int i = 0; i < RUN_SORT_COUNT; i++)
        if (strcmp(sorts[i].name, name) == 0) return i;
    return -1;
}

/* A condition of a filter: SQL with its one parameter. */
struct conditions {
    GString *sql;
    GPtrArray *texts; /* text of each parameter; NULL for a number */
    GArray *numbers;  /* double of each parameter */
};

static void add(struct conditions *c, const char *sql, char *text, double number)
{
    g_string_append_printf(c->sql, "%s%s", c->sql->len ? " AND " : " WHERE ", sql);
    g_ptr_array_add(c->texts, text);
    g_array_append_val(c->numbers, number);
}

static void add_name(struct conditions *c, const char *column, enum run_name kind, const char *name)
{
    char sql[128];
    if (!name) return;
    g_snprintf(sql, sizeof sql, "%s = (SELECT id FROM name WHERE kind = %d AND text = ?)", column, (int)kind);
    add(c, sql, g_strdup(name), 0);
}

/* Returns "%text%" with the wildcards of LIKE escaped. Free with g_free. */
static char *like(const char *text)
{
    GString *pattern = g_string_new("%");
    for (; *text; text++) {
        if (strchr("%_\\", *text)) g_string_append_c(pattern, '\\');
        g_string_append_c(pattern, *text);
    }
    return g_string_free(g_string_append_c(pattern, '%'), FALSE);
}

static void add_signal(const struct run_index *run, struct conditions *c, const char *signal)
{
    char sql[64];
    if (!signal) return;
    for (int bit = 0; bit < RUN_SIGNALS; bit++)
        if (run->signals[bit] && strcmp(run->signals[bit], signal) == 0) {
            g_snprintf(sql, sizeof sql, "fired >> %d & 1 = ?", bit);
            add(c, sql, NULL, 1);
            return;
        }
    add(c, "0 = ?", NULL, 1); /* an unknown signal never fired */
}

static void add_text(struct conditions *c, const char *text)
{
    char sql[160];
    guint at = c->texts->len + 1; /* the same parameter occurs twice in the SQL */
    if (!text) return;
    g_snprintf(sql, sizeof sql,
               "number IN (SELECT number FROM text WHERE id LIKE ?%u ESCAPE '\\' OR question LIKE ?%u ESCAPE '\\')", at,
               at);
    add(c, sql, like(text), 0);
}

static struct conditions conditions_of(const struct run_index *run, const struct run_filter *f)
{
    struct conditions c = {g_string_new(NULL), g_ptr_array_new_with_free_func(g_free),
                           g_array_new(FALSE, FALSE, sizeof(double))};
    if (f->status >= 0) add(&c, "status = ?", NULL, f->status);
    add_name(&c, "db", RUN_DATABASE, f->db);
    add_name(&c, "reason", RUN_REASON, f->reason);
    add_signal(run, &c, f->signal);
    if (!isnan(f->p_from)) add(&c, "p >= ?", NULL, f->p_from);
    if (!isnan(f->p_to)) add(&c, "p <= ?", NULL, f->p_to);
    if (f->right >= 0) add(&c, "right = ?", NULL, f->right);
    add_text(&c, f->text);
    return c;
}

static void conditions_free(struct conditions *c)
{
    g_string_free(c->sql, TRUE);
    g_ptr_array_unref(c->texts);
    g_array_free(c->numbers, TRUE);
}

/* Prepares a statement and binds the conditions' parameters. Returns NULL with `err` set on failure. */
static sqlite3_stmt *prepare(struct run_index *run, const char *sql, const struct conditions *c, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(run->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        run_sqlite_failed(run->db, run->path, err);
        return NULL;
    }
    for (guint i = 0; i < c->texts->len; i++) {
        const char *text = c->texts->pdata[i];
        if (text)
            sqlite3_bind_text(stmt, (int)i + 1, text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_double(stmt, (int)i + 1, g_array_index(c->numbers, double, i));
    }
    return stmt;
}

static int64_t count(struct run_index *run, const struct conditions *c, struct err *err)
{
    if (!c->texts->len) return (int64_t)run->verdicts;
    char *sql = g_strdup_printf("SELECT count(*) FROM verdict%s", c->sql->str);
    sqlite3_stmt *stmt = prepare(run, sql, c, err);
    int64_t n = stmt && sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    if (stmt && n < 0) run_sqlite_failed(run->db, run->path, err);
    sqlite3_finalize(stmt);
    g_free(sql);
    return n;
}

static json_t *real(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? json_null()
                                                            : json_real(sqlite3_column_double(stmt, column));
}

static json_t *integer(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? json_null()
                                                            : json_integer(sqlite3_column_int64(stmt, column));
}

static json_t *text(sqlite3_stmt *stmt, int column)
{
    const char *value = (const char *)sqlite3_column_text(stmt, column);
    json_t *json = value ? json_string(value) : NULL;
    return json ? json : json_null();
}

static json_t *signals_json(const struct run_index *run, uint64_t fired)
{
    json_t *list = json_array();
    for (; fired; fired &= fired - 1) {
        const char *name = run->signals[__builtin_ctzll(fired)];
        if (name) json_array_append_new(list, json_string(name));
    }
    return list;
}

/* Reads a line as a verdict. Returns false if the line is no longer a verdict. */
static bool read_line(struct run_index *run, uint64_t start, uint64_t number, struct diff_verdict *out, struct err *err)
{
    if (lines_at(&run->lines, start, number) <= 0) {
        err_set(err, ERR_IO, "%s: the file changed after it was indexed", run->path);
        return false;
    }
    if (diff_verdict_read(&run->lines, out, NULL)) return true;
    err_set(err, ERR_MALFORMED, "%s: the file changed after it was indexed", run->path);
    return false;
}

#define COLUMNS                                                                                                        \
    "number, id, (SELECT text FROM name WHERE kind = 0 AND name.id = db), status, "                                    \
    "(SELECT text FROM name WHERE kind = 1 AND name.id = reason), p, threshold, chosen, candidates, iterations, ms, "  \
    "fired, right, question, start"

static json_t *row_json(struct run_index *run, sqlite3_stmt *stmt, bool sql)
{
    int status = sqlite3_column_int(stmt, 3);
    json_t *row = json_object();
    json_object_set_new(row, "number", integer(stmt, 0));
    json_object_set_new(row, "id", text(stmt, 1));
    json_object_set_new(row, "db", text(stmt, 2));
    json_object_set_new(row, "status",
                        json_string(msg_status_name(status >= 0 && status < MSG_STATUS_COUNT ? (enum msg_status)status
                                                                                             : MSG_STATUS_FAILED)));
    json_object_set_new(row, "reason", text(stmt, 4));
    json_object_set_new(row, "p_correct", real(stmt, 5));
    json_object_set_new(row, "threshold", real(stmt, 6));
    json_object_set_new(row, "chosen", integer(stmt, 7));
    json_object_set_new(row, "candidates", integer(stmt, 8));
    json_object_set_new(row, "iterations", integer(stmt, 9));
    json_object_set_new(row, "ms", real(stmt, 10));
    json_object_set_new(row, "signals", signals_json(run, (uint64_t)sqlite3_column_int64(stmt, 11)));
    json_object_set_new(row, "right",
                        sqlite3_column_type(stmt, 12) == SQLITE_NULL ? json_null()
                                                                     : json_boolean(sqlite3_column_int(stmt, 12)));
    json_object_set_new(row, "question", text(stmt, 13));
    struct diff_verdict verdict;
    if (sql && read_line(run, (uint64_t)sqlite3_column_int64(stmt, 14), (uint64_t)sqlite3_column_int64(stmt, 0),
                         &verdict, NULL)) {
        json_object_set_new(row, "sql", verdict.sql ? json_string(verdict.sql) : json_null());
        diff_verdict_free(&verdict);
    }
    return row;
}

static json_t *page(struct run_index *run, const struct run_filter *filter, const struct conditions *c, struct err *err)
{
    /* The inner SELECT sorts only numbers; the texts of the page are joined later, so that the sort moves no texts. */
    char *sql = g_strdup_printf("SELECT " COLUMNS
                                " FROM verdict JOIN text USING (number) WHERE number IN (SELECT number FROM verdict%s "
                                "ORDER BY %s LIMIT %u OFFSET %llu) ORDER BY %s",
                                c->sql->str, sorts[filter->sort].sql, MIN(filter->limit, RUN_PAGE),
                                (unsigned long long)MIN(filter->offset, INT64_MAX), sorts[filter->sort].sql);
    sqlite3_stmt *stmt = prepare(run, sql, c, err);
    json_t *list = stmt ? json_array() : NULL;
    int got = SQLITE_DONE;
    while (stmt && (got = sqlite3_step(stmt)) == SQLITE_ROW)
        json_array_append_new(list, row_json(run, stmt, filter->sql));
    if (stmt && got != SQLITE_DONE) {
        run_sqlite_failed(run->db, run->path, err);
        json_decref(list);
        list = NULL;
    }
    sqlite3_finalize(stmt);
    g_free(sql);
    return list;
}

json_t *run_index_query(struct run_index *run, const struct run_filter *filter, struct err *err)
{
    struct conditions c = conditions_of(run, filter);
    int64_t total = count(run, &c, err);
    json_t *list = total < 0 ? NULL : page(run, filter, &c, err);
    conditions_free(&c);
    return list ? json_pack("{s:I,s:o}", "total", (json_int_t)total, "verdicts", list) : NULL;
}

json_t *run_index_verdict(struct run_index *run, uint64_t number, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct diff_verdict verdict;
    if (sqlite3_prepare_v2(run->db, "SELECT start FROM verdict WHERE number = ?", -1, &stmt, NULL) != SQLITE_OK) {
        run_sqlite_failed(run->db, run->path, err);
        return NULL;
    }
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)MIN(number, INT64_MAX));
    bool found = sqlite3_step(stmt) == SQLITE_ROW;
    uint64_t start = found ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    if (!found) {
        err_set(err, ERR_REFUSED, "the file has %llu verdicts, and none with number %llu",
                (unsigned long long)run->verdicts, (unsigned long long)number);
        return NULL;
    }
    return read_line(run, start, number, &verdict, err) ? verdict.json : NULL;
}
