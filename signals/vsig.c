/* The registry of signals, and the execution of one signal.
 *
 * The registry is generated from vsig_list.h and finds signals by id and by name. The execution checks the needs of the
 * signal, calls its eval function and measures the time. If eval returns an error code, the signal becomes unavailable
 * with the code's name as the reason. Findings are allocated in the arena of the subject, and their number is
 * bounded. */
#include "signals/vsig.h"

#include "lib/base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define X(id, name, family) extern const struct vsig_def vsig_##name;
#include "signals/vsig_list.h"
#undef X

static const struct vsig_def *const SIGNALS[] = {
#define X(id, name, family) &vsig_##name,
#include "signals/vsig_list.h"
#undef X
};
enum { N_SIGNALS = sizeof(SIGNALS) / sizeof(SIGNALS[0]) };

const struct vsig_def *const *vsig_all(unsigned *n)
{
    *n = N_SIGNALS;
    return SIGNALS;
}

const struct vsig_def *vsig_by_id(enum vsig_id id)
{
    static const struct vsig_def *const by_id[VSIG_ID_END] = {
#define X(number, name, family) [number] = &vsig_##name,
#include "signals/vsig_list.h"
#undef X
    };
    return (unsigned)id < VSIG_ID_END ? by_id[id] : NULL;
}

bool vsig_tells_of_data(enum vsig_id id)
{
    const struct vsig_def *def = vsig_by_id(id);
    return def && def->family == VSIG_EXECUTION;
}

const struct vsig_def *vsig_by_name(const char *name)
{
    for (unsigned i = 0; i < N_SIGNALS; i++)
        if (strcmp(SIGNALS[i]->name, name) == 0) return SIGNALS[i];
    return NULL;
}

static const char *const FAMILIES[] = {
    [VSIG_STRUCTURE] = "structure",
    [VSIG_JOIN] = "join",
    [VSIG_EXECUTION] = "execution",
    [VSIG_VALUE] = "value",
    [VSIG_QUESTION] = "question",
    [VSIG_EXPLAIN] = "explain",
    [VSIG_LLM] = "llm",
};
static const char *const STATES[] = {
    [VSIG_SILENT] = "silent", [VSIG_FIRED] = "fired", [VSIG_UNAVAILABLE] = "unavailable"};
static const char *const SEVERITIES[] = {[VSIG_NOTE] = "note", [VSIG_WARNING] = "warning", [VSIG_ERROR] = "error"};
static const char *const CAUSES[] = {[VSIG_QUESTION_AMBIGUITY] = "question ambiguity",
                                     [VSIG_DATA_AMBIGUITY] = "data ambiguity",
                                     [VSIG_MISALIGNMENT] = "misalignment"};

#define NAME_IN(table, i) ((size_t)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

const char *vsig_family_name(enum vsig_family family)
{
    return NAME_IN(FAMILIES, family);
}
const char *vsig_state_name(enum vsig_state state)
{
    return NAME_IN(STATES, state);
}
const char *vsig_severity_name(enum vsig_severity severity)
{
    return NAME_IN(SEVERITIES, severity);
}
const char *vsig_cause_name(enum vsig_cause cause)
{
    return NAME_IN(CAUSES, cause);
}

int vsig_family_by_name(const char *name)
{
    for (int i = 0; i < VSIG_FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i], name) == 0) return i;
    return -1;
}

/* Returns the node, or its nearest ancestor that has a span in the text. Nodes that a rewrite created have no span. */
static const struct sql_node *with_span(const struct sql_node *node)
{
    while (node && node->start == node->end) node = node->parent;
    return node;
}

void vsig_add_clause(struct vsig_run *run, struct vsig_finding *finding, const struct sql_node *node)
{
    node = with_span(node);
    if (!finding || !node || finding->n_clauses == VSIG_MAX_CLAUSES) return;
    for (uint32_t i = 0; i < finding->n_clauses; i++)
        if (finding->clauses[i].start == node->start && finding->clauses[i].end == node->end) return;
    (void)run;
    finding->clauses[finding->n_clauses++] =
        (struct vsig_clause){.label = sql_clause_name(sql_clause_of(node)), .start = node->start, .end = node->end};
}

static char *print_into(struct arena *arena, const char *format, va_list args)
{
    char line[512];
    int len = vsnprintf(line, sizeof line, format, args);
    if (len < 0) return NULL;
    size_t keep = (size_t)len < sizeof line ? (size_t)len : sizeof line - 1;
    /* do not cut inside a UTF-8 character */
    while (keep && keep == sizeof line - 1 && (line[keep - 1] & 0xC0) == 0x80) keep--;
    return arena_strndup(arena, line, keep);
}

void vsig_add_fact(struct vsig_run *run, struct vsig_finding *finding, const char *key, bool from_data,
                   const char *format, ...)
{
    if (!finding) return;
    struct vsig_fact *fact = arena_new(run->subject->arena, struct vsig_fact);
    if (!fact) return;
    va_list args;
    va_start(args, format);
    fact->value = print_into(run->subject->arena, format, args);
    va_end(args);
    if (!fact->value) return;
    fact->key = key;
    fact->from_data = from_data;
    struct vsig_fact **tail = &finding->facts;
    while (*tail) tail = &(*tail)->next;
    *tail = fact;
}

static struct vsig_finding *add_finding(struct vsig_run *run, enum vsig_severity severity, const struct sql_node *node,
                                        const char *format, va_list args)
{
    struct vsig_verdict *verdict = run->verdict;
    if (verdict->n_findings == VSIG_MAX_FINDINGS) return NULL;
    struct vsig_finding *finding = arena_new(run->subject->arena, struct vsig_finding);
    char *message = finding ? print_into(run->subject->arena, format, args) : NULL;
    if (!message) return NULL;
    finding->signal = run->def->id;
    finding->severity = severity;
    finding->message = message;
    vsig_add_clause(run, finding, node);
    struct vsig_finding **tail = &verdict->findings;
    while (*tail) tail = &(*tail)->next;
    *tail = finding;
    verdict->n_findings++;
    return finding;
}

struct vsig_finding *vsig_fire(struct vsig_run *run, enum vsig_severity severity, const struct sql_node *node,
                               const char *format, ...)
{
    if (severity != VSIG_NOTE) run->verdict->state = VSIG_FIRED;
    va_list args;
    va_start(args, format);
    struct vsig_finding *finding = add_finding(run, severity, node, format, args);
    va_end(args);
    return finding;
}

struct vsig_finding *vsig_note(struct vsig_run *run, const struct sql_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct vsig_finding *finding = add_finding(run, VSIG_NOTE, node, format, args);
    va_end(args);
    return finding;
}

void vsig_unavailable(struct vsig_run *run, const char *reason)
{
    *run->verdict = (struct vsig_verdict){.state = VSIG_UNAVAILABLE, .reason = reason};
}

double vsig_opt(const struct vsig_run *run, unsigned index)
{
    return run->options->values[run->def->id][index];
}

static bool reads_unread(const struct vsig_subject *subject)
{
    return subject->schema && subject->bound && schema_reads_unread(subject->schema, subject->bound);
}

/* Returns the reason why the signal cannot check this subject, or NULL. */
static const char *unmet(struct vsig_subject *subject, const struct vsig_def *def)
{
    if (subject->code != ERR_OK) return err_name(subject->code);
    if (subject->refused != ERR_OK) return err_name(subject->refused);
    const unsigned data = VSIG_NEEDS_DB | VSIG_NEEDS_RESULT | VSIG_NEEDS_DATA;
    if ((def->needs & data) && subject->schema && subject->schema->no_data) return err_name(ERR_NO_DATA);
    if ((def->needs & VSIG_NEEDS_DATA) && reads_unread(subject)) return "the index has no statistics";
    if ((def->needs & VSIG_NEEDS_DB) && !subject->db) return "no database";
    if ((def->needs & VSIG_NEEDS_QUESTION) && !subject->analysis) return "no question";
    if ((def->needs & VSIG_NEEDS_RESULT) && !vsig_result(subject))
        return subject->db ? err_name(subject->result_code) : "no database";
    return NULL;
}

void vsig_run_one(struct vsig_subject *subject, const struct vsig_def *def, const struct vsig_options *options,
                  struct vsig_verdict *verdict)
{
    int64_t started = clock_now_ns();
    *verdict = (struct vsig_verdict){.state = VSIG_SILENT};
    struct vsig_run run = {.def = def, .subject = subject, .options = options, .verdict = verdict};
    const char *reason = unmet(subject, def);
    if (reason) {
        vsig_unavailable(&run, reason);
    } else {
        enum err_code code = def->eval(&run);
        if (code != ERR_OK) vsig_unavailable(&run, err_name(code));
    }
    verdict->ns = clock_now_ns() - started;
}

void vsig_run_family(struct vsig_subject *subject, enum vsig_family family, const struct vsig_options *options,
                     struct vsig_verdict *out)
{
    for (unsigned i = 0; i < N_SIGNALS; i++) {
        const struct vsig_def *def = SIGNALS[i];
        if (def->family == family && options->enabled[def->id]) vsig_run_one(subject, def, options, &out[def->id]);
    }
}
