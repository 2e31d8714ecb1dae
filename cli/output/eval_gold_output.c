/* Prints how often each signal fired on gold queries: a table, or JSON. */
#include "cli/output/eval_output.h"
#include "cli/output/table.h"
#include "lib/learn/learn.h"

static struct table *gold_table(const struct eval_gold *golds)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"seen", .right = true},
                                                  {"fired", .right = true},
                                                  {"rate %", .right = true},
                                                  {"95 %", .right = true},
                                                  {"unavailable", .right = true},
                                                  {NULL}};
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < n; i++) {
        const struct eval_gold_signal *tally = &golds->by_signal[all[i]->id];
        struct learn_interval range = learn_wilson(tally->fired, tally->seen, 1.96);
        table_row(table);
        table_cell(table, 0, "%s", all[i]->name);
        table_cell(table, 1, "%llu", (unsigned long long)tally->seen);
        table_cell(table, 2, "%llu", (unsigned long long)tally->fired);
        table_cell(table, 3, "%.2f", tally->seen ? 100.0 * (double)tally->fired / (double)tally->seen : 0);
        table_cell(table, 4, "%.2f-%.2f", 100 * range.low, 100 * range.high);
        table_cell(table, 5, "%llu", (unsigned long long)tally->unavailable);
    }
    return table;
}

static json_t *gold_json(const struct eval_gold *golds)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    json_t *signals = json_array();
    for (unsigned i = 0; i < n; i++) {
        const struct eval_gold_signal *tally = &golds->by_signal[all[i]->id];
        struct learn_interval range = learn_wilson(tally->fired, tally->seen, 1.96);
        json_t *ids = json_array();
        for (guint k = 0; k < tally->ids->len; k++) json_array_append_new(ids, format_text(tally->ids->pdata[k]));
        json_array_append_new(signals, json_pack("{s:s,s:I,s:I,s:I,s:f,s:[f,f],s:o}", "name", all[i]->name, "seen",
                                                 (json_int_t)tally->seen, "fired", (json_int_t)tally->fired,
                                                 "unavailable", (json_int_t)tally->unavailable, "gold_fire_rate",
                                                 tally->seen ? 100.0 * (double)tally->fired / (double)tally->seen : 0.0,
                                                 "interval", 100 * range.low, 100 * range.high, "ids", ids));
    }
    return json_pack("{s:i,s:I,s:I,s:I,s:o}", "schema_version", 1, "golds", (json_int_t)golds->golds, "invalid",
                     (json_int_t)golds->invalid, "left_out", (json_int_t)golds->left_out, "signals", signals);
}

void eval_gold_write(const struct eval_gold *golds, enum format format, FILE *stream)
{
    if (format == FORMAT_TEXT) {
        struct table *table = gold_table(golds);
        fprintf(stream, "Signals on gold queries (%llu queries, %llu of them invalid", (unsigned long long)golds->golds,
                (unsigned long long)golds->invalid);
        if (golds->left_out)
            fprintf(stream, "; %llu requests left out, their databases could not be read",
                    (unsigned long long)golds->left_out);
        fputs(")\n", stream);
        table_print(table, stream);
        table_free(table);
        return;
    }
    json_t *json = gold_json(golds);
    format_json(json, format, stream);
    json_decref(json);
}
