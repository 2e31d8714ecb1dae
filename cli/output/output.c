/* Writes verdicts in all formats (output.h). A table of writers has one row for each format, with functions for the
 * start, each verdict and the end. Formats that need counts at their start (JUnit) are buffered; all others are written
 * as verdicts arrive. A resumed replay reads the last members of a jsonl record. */
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "lib/base/digits.h"
#include "proto/bus/position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct output {
    FILE *stream;
    enum format format;
    bool full, first, lost;      /* lost: memory was exhausted for a verdict */
    const struct sql_file *file; /* file of the current verdict's query; NULL if there is none */
    struct msg_buffer json;      /* reused for each verdict */
    struct junit *junit;
};

/* Writes a line number, or partition@offset. */
static void place_text(uint64_t place, char *out, size_t size)
{
    if (position_is_record(place))
        snprintf(out, size, "%d@%lld", position_partition(place), (long long)position_offset(place));
    else
        snprintf(out, size, "%llu", (unsigned long long)place);
}

struct writer { /* one row for each format; functions that it does not need are NULL */
    void (*begin)(struct output *output);
    void (*verdict)(struct output *output, uint64_t place, const struct msg_verdict *verdict);
    void (*skipped)(struct output *output, const struct sql_file *file, const char *why);
    void (*end)(struct output *output);
};

/* Returns the names of the signals that fired on the answer or, if there is no answer, on the first candidate. */
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

bool verdict_holds(const struct msg_verdict *verdict, const struct sql_file *file)
{
    return verdict->status == MSG_STATUS_VALIDATED || (verdict->status == MSG_STATUS_REPAIRED && !file);
}

char *verdict_sentence(const struct msg_verdict *verdict)
{
    GString *text = g_string_new(msg_status_name(verdict->status));
    struct digits_pair p = digits_apart(verdict->p_correct, verdict->threshold, 3);
    if (!isnan(verdict->p_correct)) g_string_append_printf(text, ", P(correct) %s", p.first);
    if (!isnan(verdict->p_correct) && !isnan(verdict->threshold))
        g_string_append_printf(text, " (validates from %s)", p.second);
    if (verdict->message || verdict->reason)
        g_string_append_printf(text, ": %s", verdict->message ? verdict->message : verdict->reason);
    return g_string_free(text, FALSE);
}

const char *finding_name(const struct msg_finding *finding)
{
    return finding->name ? finding->name : "invalid_sql";
}

char *finding_line(const struct sql_file *file, uint32_t candidate, const struct msg_judged *judged,
                   const struct msg_finding *finding)
{
    struct region region = region_of(file, &judged->sql, finding->n_clauses ? finding->clauses : NULL);
    const char *name = finding_name(finding), *message = finding->message ? finding->message : name;
    char *where = file ? g_strdup(file->path) : g_strdup_printf("candidate %u", candidate + 1);
    char *line = g_strdup_printf("%s:%u:%u: %s: %s [%s]", where, region.line, region.column,
                                 msg_severity_name(finding->severity), message, name);
    g_free(where);
    return line;
}

/* Prints the findings of a file's query that does not validate, one on each line. */
static void text_findings(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file)
{
    for (uint32_t i = 0; i < verdict->n_candidates; i++)
        for (uint32_t k = 0; k < verdict->candidates[i].n_findings; k++) {
            char *line = finding_line(file, i, &verdict->candidates[i], &verdict->candidates[i].findings[k]);
            fputs("  ", stream);
            print_safe(stream, line, strlen(line), false);
            fputc('\n', stream);
            g_free(line);
        }
}

static void text_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    if (output->full) {
        verdict_print(output->stream, verdict);
        return;
    }
    enum style style = verdict->status == MSG_STATUS_VALIDATED || verdict->status == MSG_STATUS_REPAIRED ? STYLE_GOOD
                       : verdict->status == MSG_STATUS_FAILED                                            ? STYLE_BAD
                                                                                                         : STYLE_WARN;
    char number[48], p[16] = "-", answer[16] = "-";
    place_text(place, number, sizeof number);
    if (!isnan(verdict->p_correct)) snprintf(p, sizeof p, "%.3f", verdict->p_correct);
    if (verdict->chosen) snprintf(answer, sizeof answer, "%u", verdict->chosen);
    print_safe(output->stream, verdict->id ? verdict->id : number, strlen(verdict->id ? verdict->id : number), false);
    fprintf(output->stream, "  %s%s%s  %s  %s of %u  ", style_start(style), msg_status_name(verdict->status),
            style_end(), p, answer, verdict->n_candidates);
    bool holds = verdict_holds(verdict, output->file);
    const char *text = output->file && !holds && verdict->message ? verdict->message
                       : verdict->sql                             ? verdict->sql
                       : verdict->reason                          ? verdict->reason
                                                                  : "";
    print_safe(output->stream, text, strlen(text), false);
    fputc('\n', output->stream);
    if (output->file && !holds) text_findings(output->stream, verdict, output->file);
}

/* Appends the record's position as the last members, where a resumed replay searches for it. Returns false if memory is
 * exhausted. */
static bool add_record(struct output *output, uint64_t place)
{
    struct msg_buffer *json = &output->json;
    char tail[80];
    int len = snprintf(tail, sizeof tail, ",\"partition\":%d,\"offset\":%lld}", position_partition(place),
                       (long long)position_offset(place));
    size_t need = json->len + (size_t)len + 1;
    if (need > json->room) {
        char *larger = realloc(json->bytes, 2 * need);
        if (!larger) return false;
        json->bytes = larger;
        json->room = 2 * need;
    }
    memcpy(json->bytes + json->len - 1, tail, (size_t)len + 1); /* overwrites the closing brace */
    json->len += (size_t)len - 1;
    return true;
}

static void json_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    bool record = position_is_record(place);
    if (msg_verdict_write_json(&output->json, verdict, record ? 0 : place) || (record && !add_record(output, place))) {
        output->lost = true;
        return;
    }
    if (!output->full && output->format == FORMAT_JSON) fputs(output->first ? "" : ",\n", output->stream);
    if (output->format == FORMAT_JSON)
        format_json_text(output->json.bytes, output->stream);
    else
        fprintf(output->stream, "%s\n", output->json.bytes); /* the text contains no NUL */
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
    fputs("schema_version,line,id,db,status,reason,chosen,candidates,p_correct,iterations,ms,signals,sql\r\n",
          output->stream);
}

static void csv_text(FILE *stream, const char *text)
{
    if (text) csv_field(stream, text, strlen(text));
    fputc(',', stream);
}

static void csv_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    FILE *stream = output->stream;
    char *signals = fired_names(verdict);
    char number[48];
    place_text(place, number, sizeof number);
    fprintf(stream, "%d,%s,", MSG_SCHEMA_VERSION, number);
    csv_text(stream, verdict->id);
    csv_text(stream, verdict->db);
    csv_text(stream, msg_status_name(verdict->status));
    csv_text(stream, verdict->reason);
    if (verdict->chosen) fprintf(stream, "%u", verdict->chosen - 1);
    fprintf(stream, ",%u,", verdict->n_candidates);
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

static void sarif_verdict_output(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    (void)place;
    sarif_verdict(output->stream, verdict, output->file, &output->first);
}

static void junit_begin_output(struct output *output)
{
    output->junit = junit_begin();
}
static void junit_end_output(struct output *output)
{
    junit_end(output->junit, output->stream);
}

static void junit_verdict_output(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    (void)place;
    junit_verdict(output->junit, verdict, output->file);
}

static void junit_skipped_output(struct output *output, const struct sql_file *file, const char *why)
{
    junit_skipped(output->junit, file, why);
}

static void github_verdict_output(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    (void)place;
    github_verdict(output->stream, verdict, output->file);
}

static void github_skipped_output(struct output *output, const struct sql_file *file, const char *why)
{
    github_skipped(output->stream, file, why);
}

static const struct writer writers[FORMAT_COUNT] = {
    [FORMAT_TEXT] = {.verdict = text_verdict},
    [FORMAT_JSONL] = {.verdict = json_verdict},
    [FORMAT_JSON] = {json_begin, json_verdict, .end = json_end},
    [FORMAT_CSV] = {csv_begin, csv_verdict},
    [FORMAT_SARIF] = {sarif_begin_output, sarif_verdict_output, .end = sarif_end_output},
    [FORMAT_JUNIT] = {junit_begin_output, junit_verdict_output, junit_skipped_output, junit_end_output},
    [FORMAT_GITHUB] = {.verdict = github_verdict_output, .skipped = github_skipped_output},
};

struct output *output_begin(enum format format, bool full, FILE *stream)
{
    struct output *output = g_new0(struct output, 1);
    *output = (struct output){.stream = stream, .format = format, .full = full, .first = true};
    if (writers[format].begin) writers[format].begin(output);
    return output;
}

void output_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict)
{
    writers[output->format].verdict(output, place, verdict);
}

void output_verdict_of_file(struct output *output, const struct sql_file *file, const struct msg_verdict *verdict)
{
    output->file = file;
    output_verdict(output, 0, verdict);
    output->file = NULL;
}

void output_skipped(struct output *output, const struct sql_file *file, const char *why)
{
    if (writers[output->format].skipped) writers[output->format].skipped(output, file, why);
}

bool output_end(struct output *output)
{
    if (writers[output->format].end) writers[output->format].end(output);
    bool good = !output->lost;
    msg_buffer_free(&output->json);
    g_free(output);
    return good;
}
