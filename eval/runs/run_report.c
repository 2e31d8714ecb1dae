/* Converts a run to one JSON object, for a page without a server: the summary and the most informative verdicts. */
#include "eval/runs/run_index_int.h"

#include <string.h>

/* Removes silent signals: most are silent on most candidates, and a page shows only the others. */
static void drop_silent(json_t *verdict)
{
    size_t i;
    json_t *candidate, *state;
    json_array_foreach(json_object_get(verdict, "candidates"), i, candidate)
    {
        json_t *signals = json_object_get(candidate, "signals");
        const char *name;
        void *next;
        json_object_foreach_safe(signals, next, name, state)
        {
            if (g_strcmp0(json_string_value(state), msg_state_name(MSG_SILENT)) == 0) json_object_del(signals, name);
        }
    }
}

/* Returns the verdicts by number, up to RUN_REPORT_BYTES of lines. */
static json_t *verdicts_json(struct run_index *run, const json_t *rows)
{
    json_t *all = json_object(), *row;
    size_t i, left = RUN_REPORT_BYTES;
    char number[24];
    json_array_foreach(rows, i, row)
    {
        json_int_t at = json_integer_value(json_object_get(row, "number"));
        json_t *verdict = run_index_verdict(run, (uint64_t)at, NULL);
        size_t len = run->lines.len;
        if (verdict && len <= left) {
            left -= len;
            drop_silent(verdict);
            g_snprintf(number, sizeof number, "%lld", (long long)at);
            json_object_set(all, number, verdict);
        }
        json_decref(verdict);
    }
    return all;
}

json_t *run_index_report(struct run_index *run, const char *name, uint32_t rows, struct err *err)
{
    struct run_filter filter = RUN_FILTER_ALL;
    bool all = run->verdicts <= rows;
    filter.sort = all ? RUN_BY_NUMBER : RUN_BY_TELLING;
    filter.limit = rows;
    filter.sql = true;
    json_t *page = run_index_query(run, &filter, err);
    if (!page) return NULL;
    json_t *list = json_object_get(page, "verdicts");
    json_t *report = json_pack("{s:s,s:O,s:b,s:O,s:o}", "name", name, "summary", run->summary, "all", all, "rows", list,
                               "verdicts", verdicts_json(run, list));
    json_decref(page);
    if (!report) err_set(err, ERR_NOMEM, "out of memory for the report");
    return report;
}
