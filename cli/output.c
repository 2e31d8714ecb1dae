#include "cli/output.h"
#include "cli/table.h"
#include "cli/terminal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct output {
    FILE *stream;
    enum format format;
    bool full, first;
};

struct writer { /* one row a format; slots without work are NULL */
    void (*begin)(struct output *output);
    void (*verdict)(struct output *output, uint64_t line, const struct msg_verdict *verdict);
    void (*end)(struct output *output);
};

/* The names of the signals that fired on the answer (or, without one, on the first candidate). */
static char *fired_names(const struct msg_verdict *verdict)
{
    GString *names = g_string_new(NULL);
    uint32_t at = verdict->chosen ? verdict->chosen - 1 : 0;
    const struct msg_judged *judged = at < verdict->n_candidates ? &verdict->candidates[at] : NULL;
    for (uint32_t i = 0; judged && i < judged->n_signals; i++)
        if (judged->signals[i].state == MSG_FIRED)
            g_string_append_printf(names, "%s%s", names->len ? " " : "", judged->signals[i].name);
    return g_string_free(names, FALSE);
}

static void text_verdict(struct output *output, uint64_t line, const struct msg_verdict *verdict)
{
    if (output->full) {
        verdict_print(output->stream, verdict);
        return;
    }
    enum style style = verdict->status == MSG_STATUS_VALIDATED || verdict->status == MSG_STATUS_REPAIRED ? STYLE_GOOD
                       : verdict->status == MSG_STATUS_FAILED                                            ? STYLE_BAD
                                                                                                         : STYLE_WARN;
    char number[24], p[16] = "-";
    snprintf(number, sizeof number, "%llu", (unsigned long long)line);
    if (!isnan(verdict->p_correct)) snprintf(p, sizeof p, "%.3f", verdict->p_correct);
    print_safe(output->stream, verdict->id ? verdict->id : number, strlen(verdict->id ? verdict->id : number), false);
    fprintf(output->stream, "  %s%s%s  %s  %u/%u  ", style_start(style), msg_status_name(verdict->status), style_end(),
            p, verdict->chosen, verdict->n_candidates);
    const char *text = verdict->sql ? verdict->sql : verdict->reason ? verdict->reason : "";
    print_safe(output->stream, text, strlen(text), false);
    fputc('\n', output->stream);
}

static void json_verdict(struct output *output, uint64_t line, const struct msg_verdict *verdict)
{
    json_t *json = msg_verdict_json(verdict);
    if (!json) {
        errno = ENOMEM;
        return;
    }
    if (line) json_object_set_new(json, "line", json_integer((json_int_t)line));
    if (!output->full && output->format == FORMAT_JSON) fputs(output->first ? "" : ",\n", output->stream);
    format_json(json, output->format, output->stream);
    json_decref(json);
    output->first = false;
}

static void json_begin(struct output *output)
{
    if (!output->full) fputs("[\n", output->stream);
}

static void json_end(struct output *output)
{
    if (!output->full) fputs("]\n", output->stream);
}

static void csv_begin(struct output *output)
{
    fputs("line,id,db,status,reason,chosen,candidates,p_correct,iterations,ms,signals,sql\r\n", output->stream);
}

static void csv_text(FILE *stream, const char *text)
{
    if (text) csv_field(stream, text, strlen(text));
    fputc(',', stream);
}

static void csv_verdict(struct output *output, uint64_t line, const struct msg_verdict *verdict)
{
    FILE *stream = output->stream;
    char *signals = fired_names(verdict);
    fprintf(stream, "%llu,", (unsigned long long)line);
    csv_text(stream, verdict->id);
    csv_text(stream, verdict->db);
    csv_text(stream, msg_status_name(verdict->status));
    csv_text(stream, verdict->reason);
    fprintf(stream, "%u,%u,", verdict->chosen, verdict->n_candidates);
    if (!isnan(verdict->p_correct)) fprintf(stream, "%.6f", verdict->p_correct);
    fprintf(stream, ",%u,%.3f,", verdict->iterations, (double)verdict->total_ns / 1e6);
    csv_text(stream, signals);
    if (verdict->sql) csv_field(stream, verdict->sql, strlen(verdict->sql));
    fputs("\r\n", stream);
    g_free(signals);
}

static void sarif_begin_output(struct output *output)
{
    sarif_begin(output->stream);
}
static void sarif_end_output(struct output *output)
{
    sarif_end(output->stream);
}

static void sarif_verdict_output(struct output *output, uint64_t line, const struct msg_verdict *verdict)
{
    (void)line;
    sarif_verdict(output->stream, verdict, &output->first);
}

static const struct writer writers[FORMAT_COUNT] = {
    [FORMAT_TEXT] = {NULL, text_verdict, NULL},
    [FORMAT_JSONL] = {NULL, json_verdict, NULL},
    [FORMAT_JSON] = {json_begin, json_verdict, json_end},
    [FORMAT_CSV] = {csv_begin, csv_verdict, NULL},
    [FORMAT_SARIF] = {sarif_begin_output, sarif_verdict_output, sarif_end_output},
};

struct output *output_begin(enum format format, bool full, FILE *stream)
{
    struct output *output = g_new0(struct output, 1);
    *output = (struct output){.stream = stream, .format = format, .full = full, .first = true};
    if (writers[format].begin) writers[format].begin(output);
    return output;
}

void output_verdict(struct output *output, uint64_t line, const struct msg_verdict *verdict)
{
    writers[output->format].verdict(output, line, verdict);
}

bool output_end(struct output *output)
{
    if (writers[output->format].end) writers[output->format].end(output);
    bool good = fflush(output->stream) == 0 && !ferror(output->stream);
    g_free(output);
    return good;
}
