/* Prints one verdict for people. */
#include "cli/output/caret.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "lib/base/digits.h"
#include "lib/base/error.h"
#include "signals/vsig.h"

#include <math.h>
#include <string.h>

static void safe(FILE *stream, const char *text)
{
    if (text) print_safe(stream, text, strlen(text), false);
}

static const char *percent(double p, char out[16])
{
    if (isnan(p)) return "-";
    snprintf(out, 16, "%.3f", p);
    return out;
}

static enum style status_style(enum msg_status status)
{
    if (status == MSG_STATUS_VALIDATED || status == MSG_STATUS_REPAIRED) return STYLE_GOOD;
    return status == MSG_STATUS_FAILED ? STYLE_BAD : STYLE_WARN;
}

static void print_headline(FILE *out, const struct msg_verdict *verdict)
{
    char threshold[16];
    struct digits_pair p = digits_apart(verdict->p_correct, verdict->threshold, 3);
    fprintf(out, "%s%s%s", style_start(status_style(verdict->status)), msg_status_name(verdict->status), style_end());
    if (verdict->chosen) fprintf(out, ": candidate %u of %u", verdict->chosen, verdict->n_candidates);
    if (verdict->chosen && !isnan(verdict->p_correct)) fprintf(out, ", P(correct) %s", p.first);
    bool p_asked = !isnan(verdict->threshold), verifier_asked = !isnan(verdict->entailment_threshold);
    if (p_asked) fprintf(out, " (validates from %s%s", p.second, verifier_asked ? "" : ")");
    if (verifier_asked)
        fprintf(out, "%s entailment from %s)", p_asked ? "," : " (validates with",
                percent(verdict->entailment_threshold, threshold));
    fprintf(out, ", %.1f ms\n", (double)verdict->total_ns / 1e6);
    if (verdict->reason || verdict->message) {
        fputs("  ", out);
        safe(out, verdict->message ? verdict->message : err_meaning(err_from_name(verdict->reason)));
        if (verdict->reason) {
            fputs(" (", out);
            safe(out, verdict->reason);
            fputc(')', out);
        }
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < verdict->n_unavailable; i++)
        fprintf(out, "  signal family without a result: %s\n", verdict->unavailable[i]);
    for (uint32_t i = 0; i < verdict->n_notes; i++) {
        fputs("  ", out);
        safe(out, verdict->notes[i]);
        fputc('\n', out);
    }
}

/* True if the finding is a note on the data. Such a finding has no vote, but readers of the answer need it. */
static bool is_note_of_data(const struct msg_finding *finding)
{
    return finding->severity == MSG_NOTE && finding->name && finding->message &&
           vsig_tells_of_data((enum vsig_id)finding->signal);
}

static bool has_note_of_data(const struct msg_judged *judged, uint32_t signal)
{
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (judged->findings[i].signal == signal && is_note_of_data(&judged->findings[i])) return true;
    return false;
}

static char *fired(const struct msg_judged *judged)
{
    GString *names = g_string_new(judged->invalid ? "invalid_sql" : NULL);
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        const struct msg_signal *signal = &judged->signals[i];
        bool notes = signal->state == MSG_SILENT && has_note_of_data(judged, signal->id);
        if (notes || signal->state == MSG_FIRED)
            g_string_append_printf(names, "%s%s%s", names->len ? " " : "", signal->name, notes ? " (note)" : "");
    }
    return g_string_free(names, FALSE);
}

static char *outcome(const struct msg_judged *judged)
{
    const struct msg_execution *run = judged->execution;
    if (judged->same_as) return g_strdup_printf("same as %u", judged->same_as);
    if (!run) return g_strdup(judged->judged ? "" : "not judged");
    if (run->code && strcmp(run->code, "ok") != 0) return g_strdup(run->code);
    return g_strdup_printf("%u row%s, %u column%s", run->rows, run->rows == 1 ? "" : "s", run->columns,
                           run->columns == 1 ? "" : "s");
}

static void print_candidates(FILE *out, const struct msg_verdict *verdict)
{
    static const struct table_column columns[] = {
        {"", .right = true},      {"#", .right = true}, {"P", .right = true},    {"entails", .right = true},
        {"votes", .right = true}, {"result"},           {"fired", .wrap = true}, {NULL}};
    struct table *table = table_new(columns);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_judged *judged = &verdict->candidates[i];
        char p[16], e[16], *names = fired(judged), *result = outcome(judged);
        table_row(table);
        table_cell(table, 0, "%s", verdict->chosen == i + 1 ? "*" : "");
        table_cell(table, 1, "%u", i + 1);
        table_cell(table, 2, "%s", percent(judged->p_correct, p));
        table_cell(table, 3, "%s", percent(judged->entailment, e));
        table_cell(table, 4, "%u", judged->count);
        table_cell(table, 5, "%s", result);
        table_cell(table, 6, "%s", names);
        g_free(names);
        g_free(result);
    }
    table_print(table, out);
    table_free(table);
}

/* Returns the notes on the data for a candidate without other findings: "note: ... (empty_predicate); ...". */
static char *notes_of_data(const struct msg_judged *judged)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (is_note_of_data(&judged->findings[i]))
            g_string_append_printf(text, "%s%s (%s)", text->len ? "; " : "note: ", judged->findings[i].message,
                                   judged->findings[i].name);
    return g_string_free(text, FALSE);
}

/* Prints why the other candidates were not chosen, and the reservations about the answer. */
static void print_reasons(FILE *out, const struct msg_verdict *verdict)
{
    bool first = true;
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const char *why = verdict->candidates[i].why;
        char lead[24];
        char *notes = why && *why ? NULL : notes_of_data(&verdict->candidates[i]);
        const char *text = notes ? notes : why;
        if (text && *text) {
            if (first) fputc('\n', out);
            first = false;
            int indent = snprintf(lead, sizeof lead, "%3u  ", i + 1);
            print_paragraph(out, lead, (unsigned)indent, text);
        }
        g_free(notes);
    }
}

enum { MAX_MARKS = 64 };

static unsigned collect_marks(const struct msg_judged *judged, struct mark *marks)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++)
        for (uint32_t k = 0; k < judged->findings[i].n_clauses && n < MAX_MARKS; k++)
            marks[n++] = (struct mark){judged->findings[i].clauses[k].start, judged->findings[i].clauses[k].end, i + 1};
    return n;
}

static void print_finding(FILE *out, const struct msg_judged *judged, uint32_t number)
{
    const struct msg_finding *finding = &judged->findings[number];
    enum style style = finding->severity == MSG_ERROR     ? STYLE_BAD
                       : finding->severity == MSG_WARNING ? STYLE_WARN
                                                          : STYLE_DIM;
    fprintf(out, "    [%u] %s%s%s (%s)", number + 1, style_start(style), finding->name ? finding->name : "?",
            style_end(), msg_severity_name(finding->severity));
    for (uint32_t i = 0; i < finding->n_clauses; i++) {
        unsigned line, column;
        caret_position(judged->sql.bytes, judged->sql.len, finding->clauses[i].start, &line, &column);
        fprintf(out, "%s %s %u:%u", i ? "," : "", finding->clauses[i].label ? finding->clauses[i].label : "at", line,
                column);
    }
    fputs(": ", out);
    safe(out, finding->message);
    fputc('\n', out);
    for (uint32_t i = 0; i < finding->n_facts; i++) {
        fputs("        ", out);
        safe(out, finding->facts[i].key);
        fputs(": ", out);
        safe(out, finding->facts[i].value);
        fputc('\n', out);
    }
}

/* Prints the meaning of the answer and the origin of its result. */
static void print_explanation(FILE *out, const struct msg_judged *judged)
{
    if (!judged->explanation || !*judged->explanation) return;
    print_paragraph(out, "    ", 4, judged->polished ? judged->polished->text : judged->explanation);
}

static void print_candidate(FILE *out, const struct msg_verdict *verdict, uint32_t i)
{
    const struct msg_judged *judged = &verdict->candidates[i];
    bool chosen = verdict->chosen == i + 1;
    if ((!judged->n_findings && !chosen) || judged->same_as) return;
    fprintf(out, "\n%scandidate %u%s%s\n", style_start(STYLE_BOLD), i + 1, chosen ? " (the answer)" : "", style_end());
    struct mark marks[MAX_MARKS];
    unsigned n = collect_marks(judged, marks);
    caret_print(out, judged->sql.bytes ? judged->sql.bytes : "", judged->sql.len, marks, n, 4, terminal_width(out));
    if (chosen) print_explanation(out, judged);
    for (uint32_t k = 0; k < judged->n_findings; k++) print_finding(out, judged, k);
}

static void report_line(FILE *out, const char *name, const char *text)
{
    if (!text || !*text) return;
    fprintf(out, "    %-12s ", name);
    safe(out, text);
    fputc('\n', out);
}

static void print_report(FILE *out, const struct msg_verdict *verdict)
{
    if (verdict->n_report) fprintf(out, "\n%sreport%s\n", style_start(STYLE_BOLD), style_end());
    for (uint32_t i = 0; i < verdict->n_report; i++) {
        const struct msg_report *report = &verdict->report[i];
        fprintf(out, "  %s%s%s\n", style_start(STYLE_WARN), report->signal, style_end());
        report_line(out, "cause", report->cause);
        report_line(out, "meaning", report->description);
        report_line(out, "example", report->example);
        report_line(out, "instruction", report->instruction);
        for (uint32_t k = 0; k < report->n_clauses; k++)
            for (uint32_t t = 0; t < report->clauses[k].n_texts; t++)
                report_line(out, report->clauses[k].label ? report->clauses[k].label : "clause",
                            report->clauses[k].texts[t]);
    }
}

static void print_signed(FILE *out, enum style style, const char *sign, const char *sql)
{
    fprintf(out, "%s%s ", style_start(style), sign);
    safe(out, sql);
    fprintf(out, "%s\n", style_end());
}

static void print_step(FILE *out, const struct msg_step *step)
{
    fprintf(out, "  %s: ", step->clause ? step->clause : "SQL");
    safe(out, step->was);
    fputs(!step->was ? "added " : step->now ? " becomes " : " removed", out);
    safe(out, step->now);
    fputc('\n', out);
}

void repair_print(FILE *stream, const struct msg_repaired *repair)
{
    char before[16], after[16];
    fprintf(stream, "P(correct) of the query alone %s, %s %s\n", percent(repair->p_old, before),
            repair->applied ? "repaired" : "proposed", percent(repair->p_correct, after));
    print_signed(stream, STYLE_BAD, "-", repair->old_sql);
    print_signed(stream, STYLE_GOOD, "+", repair->sql);
    for (uint32_t i = 0; i < repair->n_steps; i++) print_step(stream, &repair->steps[i]);
    if (repair->reason) print_paragraph(stream, "  because: ", 11, repair->reason);
    if (repair->source) print_paragraph(stream, "  written by: ", 14, repair->source);
}

static void print_choice(FILE *stream, const struct msg_clarification *asked, const struct msg_choice *choice)
{
    print_paragraph(stream, "  - ", 4, choice->text);
    if (choice->returns)
        fprintf(stream, "    returns %u row%s;", choice->returns->rows, choice->returns->rows == 1 ? "" : "s");
    else
        fputs("   ", stream);
    fprintf(stream, " --answer %s=%s\n", asked->id ? asked->id : "", choice->id ? choice->id : "");
}

static void print_clarification(FILE *stream, const struct msg_clarification *asked)
{
    fprintf(stream, "\n%s", style_start(STYLE_BOLD));
    safe(stream, asked->text);
    fprintf(stream, "%s\n", style_end());
    for (uint32_t i = 0; i < asked->n_choices; i++) print_choice(stream, asked, &asked->choices[i]);
}

void verdict_print(FILE *stream, const struct msg_verdict *verdict)
{
    print_headline(stream, verdict);
    if (verdict->repair) {
        fprintf(stream, "\n%s%s%s ", style_start(STYLE_BOLD),
                verdict->repair->applied ? "repaired:" : "proposed, not applied:", style_end());
        repair_print(stream, verdict->repair);
    }
    if (verdict->clarification) print_clarification(stream, verdict->clarification);
    if (verdict->n_candidates) {
        fputc('\n', stream);
        print_candidates(stream, verdict);
        print_reasons(stream, verdict);
    }
    for (uint32_t i = 0; i < verdict->n_candidates; i++) print_candidate(stream, verdict, i);
    print_report(stream, verdict);
    if (verdict->n_questions) fprintf(stream, "\n%squestions%s\n", style_start(STYLE_BOLD), style_end());
    for (uint32_t i = 0; i < verdict->n_questions; i++) {
        fputs("    ", stream);
        safe(stream, verdict->questions[i]);
        fputc('\n', stream);
    }
}
