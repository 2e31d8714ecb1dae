/* Runs the golden cases of every signal (tests/data/signals/README.md). */
#include "signals/support/ask.h"
#include "tests/support/leak.h"
#include "tests/unit/signals/case_file.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct vsig_def vsig_select_star;

/* The database on which cases are judged. */
struct ground {
    char *folder, *path;
    struct db *db;
    struct schema_index *schema;
};

/* The position in a case file. */
struct stage {
    const struct vsig_def *def;
    const char *path;
    struct ground ground;
    struct vsig_options *options;
    bool no_embedder;
    const char *case_name, *question, *evidence;
    const char *reply; /* part of a simulated model answer for this signal */
    const char
        /* where the linker was uncertain: "tables concert"; "columns" alone means at the end of its list */
        *uncertain;
    unsigned fired, silent, failures;
};

static void fail(struct stage *stage, const struct case_line *line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct stage *stage, const struct case_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    fprintf(stderr, "%s:%u: [%s] %s\n", stage->path, line->number, stage->case_name ? stage->case_name : "", text);
    g_free(text);
    stage->failures++;
}

static void ground_close(struct ground *ground)
{
    if (ground->schema) schema_unref(ground->schema);
    if (ground->db) db_close(ground->db);
    if (ground->path) g_remove(ground->path);
    if (ground->folder) g_rmdir(ground->folder);
    g_free(ground->path);
    g_free(ground->folder);
    *ground = (struct ground){0};
}

static char *write_database(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL, *error = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        why = g_strdup(error ? error : "cannot create the database");
    sqlite3_free(error);
    sqlite3_close(db);
    return why;
}

/* Builds the database from the text or the file of a schema. Returns the reason for a failure (free with g_free), or
 * NULL. */
static char *ground_open(struct ground *ground, const char *schema)
{
    ground_close(ground);
    char *sql = NULL;
    if (g_str_has_suffix(schema, ".sql")) {
        char *file = g_build_filename(TEST_DATA, "signals", "schemas", schema, NULL);
        bool found = g_file_get_contents(file, &sql, NULL, NULL);
        g_free(file);
        if (!found) return g_strdup("no such schema file");
    } else {
        sql = g_strdup(schema);
    }
    ground->folder = g_dir_make_tmp("assay-case-XXXXXX", NULL);
    ground->path = g_build_filename(ground->folder, "case.sqlite", NULL);
    char *why = write_database(ground->path, sql);
    g_free(sql);
    if (why) return why;
    struct err err = {0};
    if (db_open(ground->path, NULL, &ground->db, &err) != ERR_OK) return g_strdup(err.text);
    const struct schema_options options = {0};
    if (schema_build(ground->db, "case", ground->path, &options, &ground->schema, &err) != ERR_OK)
        return g_strdup(err.text);
    return NULL;
}

static const char *said_state(const struct vsig_verdict *verdict)
{
    if (verdict->state == VSIG_FIRED) return "fires";
    if (verdict->state == VSIG_UNAVAILABLE) return "unavailable";
    return verdict->findings ? "note" : "silent";
}

static char *describe(const struct vsig_subject *subject, const struct vsig_verdict *verdict)
{
    GString *text = g_string_new(said_state(verdict));
    if (verdict->reason) g_string_append_printf(text, " (%s)", verdict->reason);
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next) {
        g_string_append_printf(text, "\n    %s: %s", vsig_severity_name(f->severity), f->message);
        for (uint32_t i = 0; i < f->n_clauses; i++)
            g_string_append_printf(text, "\n      %s: %.*s", f->clauses[i].label,
                                   (int)(f->clauses[i].end - f->clauses[i].start), subject->sql + f->clauses[i].start);
        for (const struct vsig_fact *fact = f->facts; fact; fact = fact->next)
            g_string_append_printf(text, "\n      %s = %s", fact->key, fact->value);
    }
    return g_string_free(text, FALSE);
}

/* Returns the offset of a span in the candidate, or -1 if it does not occur. The span is written "text", or "text @2"
 * for its second occurrence. */
static long find_span(const char *sql, const char *span, size_t *len)
{
    const char *at = strrchr(span, '@');
    unsigned nth = 1;
    *len = strlen(span);
    if (at && at > span && at[-1] == ' ' && g_ascii_isdigit(at[1])) {
        nth = (unsigned)g_ascii_strtoull(at + 1, NULL, 10);
        *len = (size_t)(at - span - 1);
    }
    char *wanted = g_strndup(span, *len);
    const char *found = sql - 1;
    while (nth-- && found) found = strstr(found + 1, wanted);
    g_free(wanted);
    return found ? (long)(found - sql) : -1;
}

static bool marks(const struct vsig_verdict *verdict, long start, long end)
{
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next)
        for (uint32_t i = 0; i < f->n_clauses; i++)
            if (f->clauses[i].start == start && f->clauses[i].end == end) return true;
    return false;
}

static unsigned count_marks(const struct vsig_verdict *verdict)
{
    unsigned n = 0;
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next)
        for (uint32_t i = 0; i < f->n_clauses; i++) {
            bool repeated = false; /* another finding matched it, or it occurred earlier in this one */
            for (const struct vsig_finding *g = verdict->findings; g; g = g->next)
                for (uint32_t k = 0; k < g->n_clauses && !(g == f && k == i); k++) {
                    if (g->clauses[k].start == f->clauses[i].start && g->clauses[k].end == f->clauses[i].end)
                        repeated = repeated || g < f || g == f;
                }
            if (!repeated) n++;
        }
    return n;
}

static bool has_fact(const struct vsig_finding *finding, const char *wanted)
{
    char **parts = g_strsplit(wanted, "=", 2);
    const char *key = g_strstrip(parts[0]), *value = parts[1] ? g_strstrip(parts[1]) : NULL;
    bool found = false;
    for (const struct vsig_fact *fact = finding->facts; fact && !found; fact = fact->next)
        found = strcmp(fact->key, key) == 0 && (!value || strcmp(fact->value, value) == 0);
    g_strfreev(parts);
    return found;
}

static bool finding_has(const struct vsig_finding *finding, const char *key, const char *value)
{
    if (strcmp(key, "says") == 0) return strstr(finding->message, value) != NULL;
    if (strcmp(key, "severity") == 0) return strcmp(vsig_severity_name(finding->severity), value) == 0;
    if (strcmp(key, "fact") == 0) return has_fact(finding, value);
    if (strcmp(key, "label") == 0)
        for (uint32_t i = 0; i < finding->n_clauses; i++)
            if (strcmp(finding->clauses[i].label, value) == 0) return true;
    return false;
}

static bool any_finding_has(const struct vsig_verdict *verdict, const char *key, const char *value)
{
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next)
        if (finding_has(f, key, value)) return true;
    return false;
}

static const char *const EXPECTATIONS[] = {"span", "label", "severity", "says", "fact", "reason", NULL};
static const char *const STATES[] = {"fires", "silent", "note", "unavailable", NULL};

/* Checks the lines after a candidate, up to the first that is not an expectation. Returns their number. */
static unsigned check_expectations(struct stage *stage, GPtrArray *lines, unsigned at,
                                   const struct vsig_subject *subject, const struct vsig_verdict *verdict)
{
    unsigned n_spans = 0, i = at;
    for (; i < lines->len; i++) {
        const struct case_line *line = lines->pdata[i];
        if (!g_strv_contains(EXPECTATIONS, line->key)) break;
        if (strcmp(line->key, "span") == 0) {
            size_t len;
            long start = find_span(subject->sql, line->value, &len);
            if (start < 0)
                fail(stage, line, "the candidate does not hold this span");
            else if (!marks(verdict, start, start + (long)len))
                fail(stage, line, "not marked: %s", line->value);
            n_spans++;
        } else if (strcmp(line->key, "reason") == 0) {
            if (g_strcmp0(verdict->reason, line->value) != 0) fail(stage, line, "another reason is given");
        } else if (!any_finding_has(verdict, line->key, line->value)) {
            fail(stage, line, "no finding has %s: %s", line->key, line->value);
        }
    }
    const struct case_line *candidate = lines->pdata[at - 1];
    if (verdict->findings && count_marks(verdict) != n_spans)
        fail(stage, candidate, "%u clauses are marked, %u spans are listed", count_marks(verdict), n_spans);
    return i - at;
}

/* Fills `reply` with the case's simulated answer of a language model. Returns the part of the tested signal, which the
 * caller frees with json_decref. */
static json_t *hand_reply(const struct stage *stage, struct vsig_reply *reply)
{
    static const char *const names[] = {
#define X(name) #name,
        ASK_SIGNALS(X)
#undef X
    };
    json_t *part = stage->reply ? json_loads(stage->reply, JSON_DECODE_ANY, NULL) : NULL;
    for (unsigned i = 0; i < ASK_COUNT; i++) {
        reply->reasons[i] = stage->reply;
        reply->parts[i] = strcmp(names[i], stage->def->name) == 0 ? part : NULL;
    }
    return part;
}

/* Judges the candidate on line `at`. Returns the number of lines that it and its expectations occupy. */
static unsigned check_candidate(struct stage *stage, GPtrArray *lines, unsigned at)
{
    const struct case_line *line = lines->pdata[at];
    if (!stage->ground.schema) {
        fail(stage, line, "no schema so far");
        return 1;
    }
    struct arena arena;
    arena_init(&arena, 0);
    struct vsig_subject subject;
    enum err_code code = vsig_subject_init(&subject, &arena, stage->ground.schema, stage->ground.db, line->value,
                                           strlen(line->value), stage->question, stage->evidence, NULL);
    if (stage->no_embedder) subject.embedder = NULL;
    if (code != ERR_OK) fail(stage, line, "the candidate is not valid: %s", err_name(code));
    struct vsig_verdict verdict;
    struct vsig_reply reply;
    json_t *part = hand_reply(stage, &reply);
    if (stage->reply) subject.reply = &reply;
    const char *name = stage->uncertain ? strchr(stage->uncertain, ' ') : NULL;
    const struct vsig_uncertain uncertain = {.columns =
                                                 stage->uncertain && g_str_has_prefix(stage->uncertain, "columns"),
                                             .name = name ? name + 1 : NULL,
                                             .p = 0.75};
    if (stage->uncertain) subject.uncertain = &uncertain, subject.n_uncertain = 1;
    vsig_run_one(&subject, stage->def, stage->options, &verdict);
    unsigned failures = stage->failures;
    if (strcmp(said_state(&verdict), line->key) != 0) fail(stage, line, "expected: %s", line->key);
    unsigned taken = 1 + check_expectations(stage, lines, at + 1, &subject, &verdict);
    if (stage->failures != failures) {
        char *what = describe(&subject, &verdict);
        fprintf(stderr, "  %s\n  got: %s\n", line->value, what);
        g_free(what);
    }
    stage->fired += verdict.state == VSIG_FIRED;
    stage->silent += verdict.state == VSIG_SILENT;
    json_decref(part);
    arena_free(&arena);
    return taken;
}

static void reset_options(struct stage *stage)
{
    vsig_options_free(stage->options);
    stage->options = vsig_options_new();
    if (!vsig_by_name(stage->def->name)) vsig_options_add(stage->options, stage->def); /* the sample signal */
}

static void set_option(struct stage *stage, const struct case_line *line)
{
    if (!*line->value) {
        reset_options(stage);
        return;
    }
    char **parts = g_strsplit(line->value, "=", 2);
    struct err err = {0};
    if (!parts[1] || vsig_options_set(stage->options, stage->def->name, g_strstrip(parts[0]),
                                      g_ascii_strtod(parts[1], NULL), &err) != ERR_OK)
        fail(stage, line, "%s", parts[1] ? err.text : "not \"name = value\"");
    g_strfreev(parts);
}

static void read_setting(struct stage *stage, const struct case_line *line)
{
    if (strcmp(line->key, "schema") == 0) {
        char *why = ground_open(&stage->ground, line->value);
        if (why) fail(stage, line, "schema: %s", why);
        g_free(why);
    } else if (strcmp(line->key, "case") == 0) {
        stage->case_name = line->value;
        stage->question = stage->evidence = stage->reply = stage->uncertain = NULL;
    } else if (strcmp(line->key, "question") == 0) {
        stage->question = line->value;
    } else if (strcmp(line->key, "evidence") == 0) {
        stage->evidence = line->value;
    } else if (strcmp(line->key, "reply") == 0) {
        stage->reply = line->value;
    } else if (strcmp(line->key, "uncertain") == 0) {
        stage->uncertain = line->value;
    } else if (strcmp(line->key, "option") == 0) {
        set_option(stage, line);
    } else if (strcmp(line->key, "embedder") == 0) {
        stage->no_embedder = strcmp(line->value, "none") == 0;
    } else {
        fail(stage, line, "unknown key \"%s\"", line->key);
    }
}

static void run_file(struct stage *stage)
{
    char *why = NULL;
    struct case_file *file = case_file_read(stage->path, &why);
    if (!file) {
        fprintf(stderr, "%s\n", why);
        stage->failures++;
        g_free(why);
        return;
    }
    reset_options(stage);
    for (unsigned i = 0; i < file->lines->len;) {
        const struct case_line *line = file->lines->pdata[i];
        if (g_strv_contains(STATES, line->key)) {
            i += check_candidate(stage, file->lines, i);
        } else {
            read_setting(stage, line);
            i++;
        }
    }
    vsig_options_free(stage->options);
    ground_close(&stage->ground);
    case_file_free(file);
}

static void run_signal(const struct vsig_def *def, const char *family)
{
    char *name = g_strconcat(def->name, ".case", NULL);
    char *path = g_build_filename(TEST_DATA, "signals", family, name, NULL);
    struct stage stage = {.def = def, .path = path};
    run_file(&stage);
    cr_expect(stage.fired > 0, "%s has no case that fires", def->name);
    cr_expect(stage.silent > 0, "%s has no case that stays silent", def->name);
    cr_expect(stage.failures == 0, "%s: %u cases failed, listed above", def->name, stage.failures);
    g_free(path);
    g_free(name);
    leak_check();
}

/* Ids instead of pointers, because Criterion copies the parameters into another process. */
static unsigned ids[VSIG_ID_END];

ParameterizedTestParameters(cases, signal)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    const char *only = getenv("ASSAY_CASES"); /* the only signal to test, for its development */
    unsigned n_ids = 0;
    for (unsigned i = 0; i < n; i++)
        if (!only || strcmp(only, all[i]->name) == 0) ids[n_ids++] = all[i]->id;
    return cr_make_param_array(unsigned, ids, n_ids, NULL);
}

ParameterizedTest(unsigned *id, cases, signal)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id) * id);
    run_signal(def, vsig_family_name(def->family));
}

Test(cases, golden_cases_match)
{
    run_signal(&vsig_select_star, "example");
}
