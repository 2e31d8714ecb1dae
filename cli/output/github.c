/* Writes workflow commands of GitHub Actions. Each is one line, which the runner shows at the position in the file.
 *
 *     ::error file=q1.sql,line=3,endLine=3,col=8,endColumn=11,title=invalid_sql::no such column: nme
 *
 * Text is escaped in the runner's own way, so that it cannot end a line and begin another command.
 */
#include "cli/output/output.h"
#include "cli/output/terminal.h"

#include <string.h>

/* Prints a user's text. A comma ends a property, and a colon ends the properties. */
static void print_escaped(FILE *stream, const char *text, bool property)
{
    char *safe = safe_text(text, strlen(text), true);
    for (const char *at = safe; *at; at++)
        if (*at == '%' || *at == '\n' || (property && strchr(":,", *at)))
            fprintf(stream, "%%%02X", (unsigned)*at);
        else
            fputc(*at, stream);
    g_free(safe);
}

static const char *level(enum msg_severity severity)
{
    static const char *const names[] = {"notice", "warning", "error"};
    return names[severity];
}

/* Prints one command. `region` NULL refers to the file as a whole. */
static void print_command(FILE *stream, const char *name, const struct sql_file *file, const struct region *region,
                          const char *title, const char *text)
{
    fprintf(stream, "::%s ", name);
    if (file) {
        fputs("file=", stream);
        print_escaped(stream, file->path, true);
        if (region) fprintf(stream, ",line=%u,endLine=%u", region->line, region->end_line);
        /* The runner accepts columns only if the region is within one line. */
        if (region && region->line == region->end_line)
            fprintf(stream, ",col=%u,endColumn=%u", region->column, region->end_column);
        fputc(',', stream);
    }
    fputs("title=", stream);
    print_escaped(stream, title, true);
    fputs("::", stream);
    print_escaped(stream, text, false);
    fputc('\n', stream);
}

static void print_finding(FILE *stream, const struct sql_file *file, const struct msg_judged *judged,
                          const struct msg_finding *finding, enum msg_severity most)
{
    struct region region = region_of(file, &judged->sql, finding->n_clauses ? finding->clauses : NULL);
    const char *name = finding_name(finding);
    print_command(stream, level(MIN(finding->severity, most)), file, &region, name,
                  finding->message ? finding->message : name);
}

/* Writes the verdict and its findings. If the query validates, findings are at most warnings. */
void github_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file)
{
    bool holds = verdict_holds(verdict, file);
    struct region region = {
        .line = file ? file->line : 1, .column = 1, .end_line = file ? file->line : 1, .end_column = 1};
    char *why = holds ? NULL : verdict_sentence(verdict);
    if (why) print_command(stream, "error", file, &region, file ? msg_status_name(verdict->status) : verdict->id, why);
    g_free(why);
    for (uint32_t i = 0; i < verdict->n_candidates; i++)
        for (uint32_t k = 0; k < verdict->candidates[i].n_findings; k++)
            print_finding(stream, file, &verdict->candidates[i], &verdict->candidates[i].findings[k],
                          holds ? MSG_WARNING : MSG_ERROR);
}

void github_skipped(FILE *stream, const struct sql_file *file, const char *why)
{
    print_command(stream, "notice", file, NULL, "skipped", why);
}
