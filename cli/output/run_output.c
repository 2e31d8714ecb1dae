#include "cli/output/run_output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"

#include <string.h>

static long long whole_at(const json_t *json, const char *key)
{
    return (long long)json_integer_value(json_object_get(json, key));
}

/* Writes a number, or nothing if it is undefined. */
static void cell_real(struct table *table, unsigned column, const char *format, const json_t *value, double scale)
{
    char text[32] = "";
    if (json_is_number(value)) snprintf(text, sizeof text, format, scale * json_number_value(value));
    table_cell(table, column, "%s", text);
}

static void print_counts(const json_t *summary, FILE *stream)
{
    const json_t *status = json_object_get(summary, "status"), *times = json_object_get(summary, "times_ms");
    const char *name;
    json_t *n;
    fprintf(stream, "%lld verdicts", whole_at(summary, "verdicts"));
    json_object_foreach((json_t *)status, name, n) if (json_integer_value(n))
        fprintf(stream, ", %s %lld", name, (long long)json_integer_value(n));
    fputc('\n', stream);
    if (whole_at(summary, "broken_lines") || whole_at(summary, "long_lines"))
        fprintf(stream, "left out: %lld lines that are not verdicts, %lld that are too long\n",
                whole_at(summary, "broken_lines"), whole_at(summary, "long_lines"));
    if (whole_at(times, "n"))
        fprintf(stream, "latency: p50 %.2f ms, p95 %.2f ms, p99 %.2f ms, max %.2f ms\n",
                json_number_value(json_object_get(times, "p50")), json_number_value(json_object_get(times, "p95")),
                json_number_value(json_object_get(times, "p99")), json_number_value(json_object_get(times, "max")));
}

static void print_labels(const json_t *summary, FILE *stream)
{
    const json_t *labels = json_object_get(summary, "labels"), *reliability = json_object_get(summary, "reliability");
    long long known = whole_at(labels, "known");
    if (!known) {
        fputs("correctness is unknown; --gold --db-root DIR runs the gold queries\n", stream);
        return;
    }
    fprintf(stream, "right by execution: %lld of %lld answers (%.1f %%); P is off by %.1f points on average\n",
            whole_at(labels, "right"), known, 100.0 * (double)whole_at(labels, "right") / (double)known,
            json_number_value(json_object_get(reliability, "ece")));
}

static void print_signals(const json_t *summary, FILE *stream)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"fired", .right = true},
                                                  {"unavailable", .right = true},
                                                  {"wrong %", .right = true},
                                                  {"lift", .right = true},
                                                  {NULL}};
    const json_t *signals = json_object_get(summary, "signals");
    size_t i;
    json_t *signal;
    if (!json_array_size(signals)) return;
    struct table *table = table_new(columns);
    json_array_foreach(signals, i, signal)
    {
        table_row(table);
        table_cell(table, 0, "%s", json_string_value(json_object_get(signal, "signal")));
        table_cell(table, 1, "%lld", whole_at(signal, "fired"));
        table_cell(table, 2, "%lld", whole_at(signal, "unavailable"));
        cell_real(table, 3, "%.1f", json_object_get(signal, "precision"), 100);
        cell_real(table, 4, "%.2f", json_object_get(signal, "lift"), 1);
    }
    fputs("\nSignals on the answer, or on the first candidate without one\n", stream);
    table_print(table, stream);
    table_free(table);
}

void run_print(const json_t *summary, FILE *stream)
{
    print_counts(summary, stream);
    print_labels(summary, stream);
    print_signals(summary, stream);
}
