#include "cli/eval_gold.h"
#include "cli/table.h"
#include "lib/learn/learn.h"

#include <string.h>

enum { MAX_EXAMPLES = 200 }; /* ids kept a signal */

struct tally {
    uint64_t seen, fired, unavailable;
    GPtrArray *ids;
};

struct eval_gold {
    uint64_t golds, invalid;
    struct tally by_signal[VSIG_ID_END];
};

struct eval_gold *eval_gold_new(void)
{
    struct eval_gold *golds = g_new0(struct eval_gold, 1);
    for (int i = 0; i < VSIG_ID_END; i++) golds->by_signal[i].ids = g_ptr_array_new_with_free_func(g_free);
    return golds;
}

void eval_gold_free(struct eval_gold *golds)
{
    for (int i = 0; i < VSIG_ID_END; i++) g_ptr_array_free(golds->by_signal[i].ids, TRUE);
    g_free(golds);
}

void eval_gold_add(struct eval_gold *golds, const struct msg_verdict *verdict)
{
    const struct msg_judged *gold = verdict->n_candidates ? &verdict->candidates[0] : NULL;
    golds->golds++;
    if (!gold || !gold->judged || gold->invalid) {
        golds->invalid++;
        return;
    }
    for (uint32_t i = 0; i < gold->n_signals; i++) {
        const struct msg_signal *signal = &gold->signals[i];
        if (signal->id >= VSIG_ID_END) continue;
        struct tally *tally = &golds->by_signal[signal->id];
        if (signal->state == MSG_UNAVAILABLE) {
            tally->unavailable++;
            continue;
        }
        tally->seen++;
        if (signal->state != MSG_FIRED) continue;
        tally->fired++;
        if (tally->ids->len < MAX_EXAMPLES) g_ptr_array_add(tally->ids, g_strdup(verdict->id));
    }
}

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
        const struct tally *tally = &golds->by_signal[all[i]->id];
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
        const struct tally *tally = &golds->by_signal[all[i]->id];
        struct learn_interval range = learn_wilson(tally->fired, tally->seen, 1.96);
        json_t *ids = json_array();
        for (guint k = 0; k < tally->ids->len; k++) json_array_append_new(ids, format_text(tally->ids->pdata[k]));
        json_array_append_new(signals, json_pack("{s:s,s:I,s:I,s:I,s:f,s:[f,f],s:o}", "name", all[i]->name, "seen",
                                                 (json_int_t)tally->seen, "fired", (json_int_t)tally->fired,
                                                 "unavailable", (json_int_t)tally->unavailable, "gold_fire_rate",
                                                 tally->seen ? 100.0 * (double)tally->fired / (double)tally->seen : 0.0,
                                                 "interval", 100 * range.low, 100 * range.high, "ids", ids));
    }
    return json_pack("{s:i,s:I,s:I,s:o}", "schema_version", 1, "golds", (json_int_t)golds->golds, "invalid",
                     (json_int_t)golds->invalid, "signals", signals);
}

void eval_gold_write(const struct eval_gold *golds, enum format format, FILE *stream)
{
    if (format == FORMAT_TEXT) {
        struct table *table = gold_table(golds);
        fprintf(stream, "Signals on gold queries (%llu queries, %llu of them not valid here)\n",
                (unsigned long long)golds->golds, (unsigned long long)golds->invalid);
        table_print(table, stream);
        table_free(table);
        return;
    }
    json_t *json = gold_json(golds);
    format_json(json, format, stream);
    json_decref(json);
}
