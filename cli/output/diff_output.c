/* Prints the result of `assay diff`: tables for people, records for programs. */
#include "cli/output/diff_output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "lib/learn/metrics.h"

#include <math.h>
#include <string.h>

struct diff_writer {
    enum format format;
    const char *const *names;
    FILE *stream;
    uint64_t list, listed, left_out; /* list: maximum of entries shown as text; listed: shown; left_out: not shown */
    bool first;
};

static const char *const sides[2] = {"a", "b"};

static const char *right_name(enum diff_right right)
{
    static const char *const names[] = {"", "wrong", "right"};
    return names[right];
}

/* Returns the names of the fields whose bits are set, such as "status sql". Free with g_free. */
static char *field_names(unsigned fields)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < DIFF_FIELD_COUNT; i++)
        if (fields >> i & 1)
            g_string_append_printf(text, "%s%s", text->len ? " " : "", diff_field_name((enum diff_field)i));
    return g_string_free(text, FALSE);
}

/* Returns the signals that changed to MSG_FIRED if `gained`, else those that changed from it. Each has the index of its
 * candidate: "empty_predicate@0 ...". Free with g_free. */
static char *signal_names(const struct diff_pair *pair, bool gained)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < pair->signals->len; i++) {
        const struct diff_signal *signal = &g_array_index(pair->signals, struct diff_signal, i);
        if ((gained ? signal->to : signal->from) != MSG_FIRED) continue;
        g_string_append_printf(text, "%s%s@%u", text->len ? " " : "", signal->name, signal->candidate);
    }
    return g_string_free(text, FALSE);
}

/* --- text ------------------------------------------------------------------------------------------------------- */

static void safe(FILE *stream, const char *text)
{
    print_safe(stream, text, strlen(text), false);
}

/* Counts one more entry. Returns true if it may be shown. */
static bool list_one(struct diff_writer *w)
{
    bool room = !w->list || w->listed < w->list;
    w->listed += room;
    w->left_out += !room;
    return room;
}

static void text_side(FILE *stream, const char *mark, const struct diff_verdict *verdict, enum diff_right right)
{
    char p[16] = "-";
    if (!isnan(verdict->p)) snprintf(p, sizeof p, "%.3f", verdict->p);
    fprintf(stream, "    %s %s ", mark, msg_status_name(verdict->status));
    if (verdict->reason) safe(stream, verdict->reason);
    fprintf(stream, "%s%s%s%s  ", verdict->reason ? " " : "", p, right ? " " : "", right_name(right));
    safe(stream, verdict->sql ? verdict->sql : "(no answer)");
    fputc('\n', stream);
}

static void text_signals(FILE *stream, const char *what, char *names)
{
    if (*names) {
        fprintf(stream, "    %s: ", what);
        safe(stream, names);
        fputc('\n', stream);
    }
    g_free(names);
}

static void text_pair(struct diff_writer *w, const struct diff_pair *pair)
{
    if (!list_one(w)) return;
    char *fields = field_names(pair->fields);
    safe(w->stream, pair->side[0].id);
    fprintf(w->stream, "  %s\n", fields);
    text_side(w->stream, "-", &pair->side[0], pair->right[0]);
    text_side(w->stream, "+", &pair->side[1], pair->right[1]);
    text_signals(w->stream, "fired", signal_names(pair, true));
    text_signals(w->stream, "cleared", signal_names(pair, false));
    g_free(fields);
}

static void text_lone(struct diff_writer *w, const char *id, unsigned side, uint64_t line, bool only)
{
    if (!list_one(w)) return;
    safe(w->stream, id);
    fprintf(w->stream, "  %s ", only ? "only in" : "repeated in");
    safe(w->stream, w->names[side]);
    fprintf(w->stream, ":%llu\n", (unsigned long long)line);
}

static void print_counted(const struct diff_writer *w, const struct diff_totals *t)
{
    fprintf(w->stream, "%llu of %llu requests changed", (unsigned long long)t->changed, (unsigned long long)t->pairs);
    for (int i = 0; i < DIFF_FIELD_COUNT; i++)
        if (t->by_field[i])
            fprintf(w->stream, "%s%s %llu", i && t->changed ? ", " : ": ", diff_field_name((enum diff_field)i),
                    (unsigned long long)t->by_field[i]);
    fputc('\n', w->stream);
    for (unsigned s = 0; s < 2; s++) {
        fprintf(w->stream, "%s ", s ? "B" : "A");
        safe(w->stream, w->names[s]);
        fprintf(w->stream, ": %llu verdicts, %llu ids only here, %llu repeated, %llu bad lines\n",
                (unsigned long long)t->verdicts[s], (unsigned long long)t->only[s], (unsigned long long)t->repeated[s],
                (unsigned long long)t->bad[s]);
    }
}

static void print_status(FILE *stream, const struct diff_totals *t)
{
    static const struct table_column columns[] = {{"status in A"}, {"status in B"}, {"requests", .right = true}, {0}};
    struct table *table = table_new(columns);
    for (int a = 0; a < MSG_STATUS_COUNT; a++)
        for (int b = 0; b < MSG_STATUS_COUNT; b++) {
            if (!t->status[a][b]) continue;
            table_row(table);
            table_cell(table, 0, "%s", msg_status_name((enum msg_status)a));
            table_cell(table, 1, a == b ? "(same)" : "%s", msg_status_name((enum msg_status)b));
            table_cell(table, 2, "%llu", (unsigned long long)t->status[a][b]);
        }
    fputc('\n', stream);
    table_print(table, stream);
    table_free(table);
}

static void print_moved(FILE *stream, const struct diff_totals *t)
{
    static const struct table_column columns[] = {
        {"p_correct moved by"}, {"up", .right = true}, {"down", .right = true}, {0}};
    if (!t->p_pairs) return;
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < DIFF_STEPS; i++) {
        if (!t->up[i] && !t->down[i]) continue;
        table_row(table);
        table_cell(table, 0, "at most %g", diff_steps[i]);
        table_cell(table, 1, "%llu", (unsigned long long)t->up[i]);
        table_cell(table, 2, "%llu", (unsigned long long)t->down[i]);
    }
    fprintf(stream, "\np_correct of the answer, %llu requests: mean %.4f in A, %.4f in B; %.3f moved up, %.3f down\n",
            (unsigned long long)t->p_pairs, t->p_sum[0] / (double)t->p_pairs, t->p_sum[1] / (double)t->p_pairs, t->p_up,
            t->p_down);
    if (t->p_up > 0 || t->p_down > 0) table_print(table, stream);
    table_free(table);
}

static GList *signals_by_name(const struct diff_totals *t)
{
    return g_list_sort(g_hash_table_get_keys(t->signals), (GCompareFunc)strcmp);
}

static void print_signals(FILE *stream, const struct diff_totals *t)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"fires now", .right = true},
                                                  {"cleared", .right = true},
                                                  {"unavailable now", .right = true},
                                                  {"available now", .right = true},
                                                  {0}};
    GList *names = signals_by_name(t);
    if (!names) return;
    struct table *table = table_new(columns);
    for (const GList *at = names; at; at = at->next) {
        const struct diff_tally *tally = g_hash_table_lookup(t->signals, at->data);
        const uint64_t counts[] = {tally->gained, tally->lost, tally->blinded, tally->sighted};
        table_row(table);
        table_cell(table, 0, "%s", (const char *)at->data);
        for (unsigned i = 0; i < 4; i++) table_cell(table, i + 1, "%llu", (unsigned long long)counts[i]);
    }
    g_list_free(names);
    fputs("\nSignals, by candidates that changed\n", stream);
    table_print(table, stream);
    table_free(table);
}

static const char *measure_name(enum diff_measure measure)
{
    static const char *const names[] = {"nothing", "normal form", "execution"};
    return names[measure];
}

/* Prints the counts of a comparison by normal form. It recognises only answers that are written like gold, so it prints
 * no shares, which would mislead. */
static void print_right_by_form(FILE *stream, const struct diff_totals *t)
{
    fprintf(stream,
            "\nRight by normal form, of %llu requests with gold: %llu in A, %llu in B; known better %llu, worse "
            "%llu\nUnknown: %llu in A, %llu in B; --gold --db-root runs them\n",
            (unsigned long long)t->measured, (unsigned long long)t->right[0], (unsigned long long)t->right[1],
            (unsigned long long)t->better, (unsigned long long)t->worse, (unsigned long long)t->unknown[0],
            (unsigned long long)t->unknown[1]);
}

static void print_right_by_execution(FILE *stream, const struct diff_totals *t)
{
    double n = t->measured ? (double)t->measured : (double)NAN;
    fprintf(stream,
            "\nRight answers by %s, %llu requests: A %llu (%.1f %%), B %llu (%.1f %%); better %llu, worse %llu, exact "
            "sign test p = %.4g\n",
            measure_name(t->measure), (unsigned long long)t->measured, (unsigned long long)t->right[0],
            100 * (double)t->right[0] / n, (unsigned long long)t->right[1], 100 * (double)t->right[1] / n,
            (unsigned long long)t->better, (unsigned long long)t->worse, learn_sign_test(t->better, t->worse));
}

static void print_gold(FILE *stream, const struct diff_totals *t)
{
    if (!t->measured && !t->gold_failed) return;
    if (t->measure == DIFF_BY_FORM)
        print_right_by_form(stream, t);
    else
        print_right_by_execution(stream, t);
    fprintf(stream, "Not measured: %llu without gold, %llu whose gold could not be run\n",
            (unsigned long long)t->no_gold, (unsigned long long)t->gold_failed);
}

static void text_end(struct diff_writer *w, const struct diff_totals *t)
{
    if (w->left_out) fprintf(w->stream, "... and %llu more; --list=0 shows all\n", (unsigned long long)w->left_out);
    if (w->listed) fputc('\n', w->stream);
    print_counted(w, t);
    if (t->pairs) print_status(w->stream, t);
    print_moved(w->stream, t);
    print_signals(w->stream, t);
    print_gold(w->stream, t);
}

/* --- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void set_both(json_t *out, const char *key, json_t *a, json_t *b)
{
    json_object_set_new(out, key, json_pack("[o, o]", a, b));
}

static json_t *right_json(enum diff_right right)
{
    return right == DIFF_UNKNOWN ? json_null() : json_boolean(right == DIFF_RIGHT);
}

static json_t *pair_json(const struct diff_pair *pair)
{
    const struct diff_verdict *a = &pair->side[0], *b = &pair->side[1];
    json_t *out = json_object(), *fields = json_array(), *signals = json_array();
    json_object_set_new(out, "id", format_text(a->id));
    for (int i = 0; i < DIFF_FIELD_COUNT; i++)
        if (pair->fields >> i & 1) json_array_append_new(fields, json_string(diff_field_name((enum diff_field)i)));
    json_object_set_new(out, "changed", fields);
    set_both(out, "status", json_string(msg_status_name(a->status)), json_string(msg_status_name(b->status)));
    set_both(out, "reason", format_text(a->reason), format_text(b->reason));
    set_both(out, "sql", format_text(a->sql), format_text(b->sql));
    set_both(out, "p_correct", real(a->p), real(b->p));
    for (guint i = 0; i < pair->signals->len; i++) {
        const struct diff_signal *signal = &g_array_index(pair->signals, struct diff_signal, i);
        json_array_append_new(signals, json_pack("{s:i, s:s, s:s, s:s}", "candidate", (int)signal->candidate, "signal",
                                                 signal->name, "from", msg_state_name(signal->from), "to",
                                                 msg_state_name(signal->to)));
    }
    json_object_set_new(out, "signals", signals);
    if (pair->right[0] || pair->right[1])
        set_both(out, "right", right_json(pair->right[0]), right_json(pair->right[1]));
    set_both(out, "line", json_integer((json_int_t)a->line), json_integer((json_int_t)b->line));
    return out;
}

/* Writes one record at once, so that memory does not hold all records of a large difference. */
static void put_record(struct diff_writer *w, json_t *record)
{
    if (w->format == FORMAT_JSON && !w->first) fputs(",\n", w->stream);
    w->first = false;
    format_json(record, w->format, w->stream);
    json_decref(record);
}

static void json_begin(struct diff_writer *w)
{
    if (w->format == FORMAT_JSON) fputs("{\"changes\": [\n", w->stream);
}

static void json_pair(struct diff_writer *w, const struct diff_pair *pair)
{
    put_record(w, pair_json(pair));
}

static void json_lone(struct diff_writer *w, const char *id, unsigned side, uint64_t line, bool only)
{
    put_record(w, json_pack("{s:o, s:s, s:I}", "id", format_text(id), only ? "only_in" : "repeated_in", sides[side],
                            "line", (json_int_t)line));
}

static json_t *both(const uint64_t counts[2])
{
    return json_pack("[I, I]", (json_int_t)counts[0], (json_int_t)counts[1]);
}

static json_t *status_json(const struct diff_totals *t)
{
    json_t *list = json_array();
    for (int a = 0; a < MSG_STATUS_COUNT; a++)
        for (int b = 0; b < MSG_STATUS_COUNT; b++)
            if (t->status[a][b])
                json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "from", msg_status_name((enum msg_status)a),
                                                      "to", msg_status_name((enum msg_status)b), "requests",
                                                      (json_int_t)t->status[a][b]));
    return list;
}

static json_t *signal_counts_json(const struct diff_totals *t)
{
    json_t *out = json_object();
    GList *names = signals_by_name(t);
    for (const GList *at = names; at; at = at->next) {
        const struct diff_tally *tally = g_hash_table_lookup(t->signals, at->data);
        json_object_set_new(out, at->data,
                            json_pack("{s:I, s:I, s:I, s:I}", "fired", (json_int_t)tally->gained, "cleared",
                                      (json_int_t)tally->lost, "unavailable", (json_int_t)tally->blinded, "available",
                                      (json_int_t)tally->sighted));
    }
    g_list_free(names);
    return out;
}

static json_t *moved_json(const struct diff_totals *t)
{
    json_t *steps = json_array();
    double n = t->p_pairs ? (double)t->p_pairs : (double)NAN;
    for (unsigned i = 0; i < DIFF_STEPS; i++)
        json_array_append_new(steps, json_pack("{s:f, s:I, s:I}", "at_most", diff_steps[i], "up", (json_int_t)t->up[i],
                                               "down", (json_int_t)t->down[i]));
    return json_pack("{s:I, s:[o, o], s:f, s:f, s:o}", "requests", (json_int_t)t->p_pairs, "mean",
                     real(t->p_sum[0] / n), real(t->p_sum[1] / n), "up", t->p_up, "down", t->p_down, "steps", steps);
}

static json_t *gold_json(const struct diff_totals *t)
{
    bool all_known = t->measure != DIFF_BY_FORM;
    return json_pack("{s:s, s:I, s:o, s:o, s:I, s:I, s:o, s:I, s:I}", "by", measure_name(t->measure), "requests",
                     (json_int_t)t->measured, "right", both(t->right), "unknown", both(t->unknown), "better",
                     (json_int_t)t->better, "worse", (json_int_t)t->worse, "sign_test_p",
                     all_known ? json_real(learn_sign_test(t->better, t->worse)) : json_null(), "without_gold",
                     (json_int_t)t->no_gold, "gold_failed", (json_int_t)t->gold_failed);
}

static json_t *summary_json(const struct diff_writer *w, const struct diff_totals *t)
{
    json_t *out = json_object(), *fields = json_object();
    set_both(out, "files", format_text(w->names[0]), format_text(w->names[1]));
    json_object_set_new(out, "verdicts", both(t->verdicts));
    json_object_set_new(out, "requests", json_integer((json_int_t)t->pairs));
    json_object_set_new(out, "changed", json_integer((json_int_t)t->changed));
    for (int i = 0; i < DIFF_FIELD_COUNT; i++)
        json_object_set_new(fields, diff_field_name((enum diff_field)i), json_integer((json_int_t)t->by_field[i]));
    json_object_set_new(out, "fields", fields);
    json_object_set_new(out, "only", both(t->only));
    json_object_set_new(out, "repeated", both(t->repeated));
    json_object_set_new(out, "bad_lines", both(t->bad));
    json_object_set_new(out, "status", status_json(t));
    json_object_set_new(out, "p_correct", moved_json(t));
    json_object_set_new(out, "signals", signal_counts_json(t));
    json_object_set_new(out, "gold", t->measured || t->gold_failed ? gold_json(t) : json_null());
    return out;
}

static void json_end(struct diff_writer *w, const struct diff_totals *t)
{
    json_t *summary = summary_json(w, t);
    if (w->format == FORMAT_JSON) {
        fputs("],\n\"summary\": ", w->stream);
        format_json(summary, FORMAT_JSON, w->stream);
        fputs("}\n", w->stream);
        json_decref(summary);
    } else {
        put_record(w, json_pack("{s:o}", "summary", summary));
    }
}

/* --- CSV: one row for each change, and no summary --------------------------------------------------------------- */

static void csv_begin(struct diff_writer *w)
{
    fputs("id,changed,status_a,status_b,reason_a,reason_b,p_correct_a,p_correct_b,fired,cleared,right_a,right_b,line_a,"
          "line_b,sql_a,sql_b\r\n",
          w->stream);
}

static void csv_text(FILE *stream, const char *text, char after)
{
    if (text) csv_field(stream, text, strlen(text));
    fputc(after, stream);
}

static void csv_pair(struct diff_writer *w, const struct diff_pair *pair)
{
    const struct diff_verdict *side = pair->side;
    char *fields = field_names(pair->fields), *fired = signal_names(pair, true), *cleared = signal_names(pair, false);
    csv_text(w->stream, side[0].id, ',');
    csv_text(w->stream, fields, ',');
    for (int i = 0; i < 2; i++) csv_text(w->stream, msg_status_name(side[i].status), ',');
    for (int i = 0; i < 2; i++) csv_text(w->stream, side[i].reason, ',');
    for (int i = 0; i < 2; i++) {
        if (!isnan(side[i].p)) fprintf(w->stream, "%.6f", side[i].p);
        fputc(',', w->stream);
    }
    csv_text(w->stream, fired, ',');
    csv_text(w->stream, cleared, ',');
    for (int i = 0; i < 2; i++) csv_text(w->stream, right_name(pair->right[i]), ',');
    for (int i = 0; i < 2; i++) fprintf(w->stream, "%llu,", (unsigned long long)side[i].line);
    csv_text(w->stream, side[0].sql, ',');
    csv_text(w->stream, side[1].sql, '\r');
    fputc('\n', w->stream);
    g_free(fields);
    g_free(fired);
    g_free(cleared);
}

static void csv_lone(struct diff_writer *w, const char *id, unsigned side, uint64_t line, bool only)
{
    csv_text(w->stream, id, ',');
    fprintf(w->stream, "%s_%s,,,,,,,,,,,", only ? "only" : "repeated", sides[side]);
    if (side == 1) fputc(',', w->stream);
    fprintf(w->stream, "%llu%s,,\r\n", (unsigned long long)line, side == 0 ? "," : "");
}

/* --- the table -------------------------------------------------------------------------------------------------- */

static const struct {
    void (*begin)(struct diff_writer *w);
    void (*pair)(struct diff_writer *w, const struct diff_pair *pair);
    void (*lone)(struct diff_writer *w, const char *id, unsigned side, uint64_t line, bool only);
    void (*end)(struct diff_writer *w, const struct diff_totals *totals);
} formats[FORMAT_COUNT] = {
    [FORMAT_TEXT] = {NULL, text_pair, text_lone, text_end},
    [FORMAT_JSONL] = {NULL, json_pair, json_lone, json_end},
    [FORMAT_JSON] = {json_begin, json_pair, json_lone, json_end},
    [FORMAT_CSV] = {csv_begin, csv_pair, csv_lone, NULL},
};

struct diff_writer *diff_writer_new(enum format format, const char *const names[2], uint64_t list, FILE *stream)
{
    struct diff_writer *w = g_new0(struct diff_writer, 1);
    *w = (struct diff_writer){.format = format, .names = names, .stream = stream, .list = list, .first = true};
    if (formats[format].begin) formats[format].begin(w);
    return w;
}

void diff_write_pair(struct diff_writer *w, const struct diff_pair *pair)
{
    formats[w->format].pair(w, pair);
}

void diff_write_lone(struct diff_writer *w, const char *id, unsigned side, uint64_t line, bool only)
{
    formats[w->format].lone(w, id, side, line, only);
}

void diff_writer_end(struct diff_writer *w, const struct diff_totals *totals)
{
    if (totals && formats[w->format].end) formats[w->format].end(w, totals);
    g_free(w);
}
