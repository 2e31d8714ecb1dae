/* Writes JUnit XML for Jenkins, GitLab and similar tools, with a test case for each query. A query that does not
 * validate is a failure; one that could not be judged is an error.
 *
 * A suite begins with its counts, so the cases are buffered until the end.
 */
#include "cli/output/output.h"
#include "cli/output/terminal.h"

#include <string.h>

struct junit {
    GString *cases;
    unsigned tests, failures, errors, skipped;
    int64_t ns;
};

/* Appends a user's text as an attribute value or element text. Characters that XML cannot represent are removed. */
static void append_text(GString *out, const char *text)
{
    char *safe = safe_text(text, strlen(text), true), *escaped = g_markup_escape_text(safe, -1);
    g_string_append(out, escaped);
    g_free(escaped);
    g_free(safe);
}

static void append_attribute(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, " %s=\"", name);
    append_text(out, value);
    g_string_append_c(out, '"');
}

/* Begins a case: the database is its class, the request its name. */
static void begin_case(struct junit *junit, const char *db, const char *name, int64_t ns)
{
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%.3f", (double)ns / 1e9);
    junit->tests++;
    junit->ns += ns;
    g_string_append(junit->cases, "  <testcase");
    append_attribute(junit->cases, "classname", db ? db : "assay");
    append_attribute(junit->cases, "name", name);
    append_attribute(junit->cases, "time", seconds);
    g_string_append_c(junit->cases, '>');
}

/* Ends a case. `element` is the name of the XML element for its outcome, which has a headline and lines of text. */
static void end_case(struct junit *junit, const char *element, const char *type, const char *message, const char *text)
{
    GString *cases = junit->cases;
    if (element) {
        g_string_append_printf(cases, "\n    <%s", element);
        append_attribute(cases, "type", type);
        append_attribute(cases, "message", message);
        g_string_append_c(cases, '>');
        append_text(cases, text);
        g_string_append_printf(cases, "</%s>\n  ", element);
    }
    g_string_append(cases, "</testcase>\n");
}

/* Returns "PATH:LINE:COLUMN: severity: message [signal]" of each finding. Free with g_free. */
static char *findings_text(const struct msg_verdict *verdict, const struct sql_file *file)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < verdict->n_candidates; i++)
        for (uint32_t k = 0; k < verdict->candidates[i].n_findings; k++) {
            char *line = finding_line(file, i, &verdict->candidates[i], &verdict->candidates[i].findings[k]);
            g_string_append_printf(text, "\n%s", line);
            g_free(line);
        }
    if (text->len) g_string_append_c(text, '\n');
    return g_string_free(text, FALSE);
}

struct junit *junit_begin(void)
{
    struct junit *junit = g_new0(struct junit, 1);
    junit->cases = g_string_new(NULL);
    return junit;
}

void junit_verdict(struct junit *junit, const struct msg_verdict *verdict, const struct sql_file *file)
{
    bool failed = verdict->status == MSG_STATUS_FAILED;
    begin_case(junit, verdict->db, file ? file->path : verdict->id ? verdict->id : "request", verdict->total_ns);
    if (verdict_holds(verdict, file)) {
        end_case(junit, NULL, NULL, NULL, NULL);
        return;
    }
    junit->errors += failed;
    junit->failures += !failed;
    char *why = verdict_sentence(verdict), *text = findings_text(verdict, file);
    end_case(junit, failed ? "error" : "failure", msg_status_name(verdict->status), why, text);
    g_free(text);
    g_free(why);
}

void junit_skipped(struct junit *junit, const struct sql_file *file, const char *why)
{
    junit->skipped++;
    begin_case(junit, NULL, file->path, 0);
    end_case(junit, "skipped", "skipped", why, "");
}

void junit_end(struct junit *junit, FILE *stream)
{
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"assay\" tests=\"%u\" "
            "failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n",
            junit->tests, junit->failures, junit->errors, junit->skipped, (double)junit->ns / 1e9);
    fwrite(junit->cases->str, 1, junit->cases->len, stream);
    fputs("</testsuite>\n</testsuites>\n", stream);
    g_string_free(junit->cases, TRUE);
    g_free(junit);
}
