/* The error report of SQLens §4.4 on one candidate. For each signal that fired it has the cause, the meaning, an
 * instruction, and the clauses concerned. This file also writes the questions to the user for the policy "ask". */
#include "coordinator/internal.h"

#include "lib/text/text.h"
#include "proto/message/findings.h"

#include <string.h>

enum { MAX_QUESTIONS = 3 };

static bool is_reported(const struct msg_finding *finding)
{
    return finding->severity != MSG_NOTE;
}

static bool is_already_reported(const struct msg_judged *judged, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (is_reported(&judged->findings[i]) && judged->findings[i].signal == judged->findings[index].signal)
            return true;
    return false;
}

static struct msg_report describe(uint32_t signal)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id)signal);
    if (!def)
        return (struct msg_report){
            .signal = FINDINGS_INVALID_SQL,
            .cause = vsig_cause_name(VSIG_MISALIGNMENT),
            .description =
                "The statement does not execute. Its syntax, one of its names, or its operation is rejected.",
            .instruction = "Correct the marked place so that the statement executes on this database.",
        };
    return (struct msg_report){.signal = def->name,
                               .cause = vsig_cause_name(def->cause),
                               .description = def->description,
                               .example = def->example,
                               .instruction = def->instruction};
}

static const char *label_of(const struct msg_clause *clause)
{
    return clause->label ? clause->label : "SQL";
}

static struct msg_report_clause *clause_with_label(struct msg_report *report, const char *label)
{
    for (uint32_t i = 0; i < report->n_clauses; i++)
        if (strcmp(report->clauses[i].label, label) == 0) return &report->clauses[i];
    report->clauses[report->n_clauses].label = label;
    return &report->clauses[report->n_clauses++];
}

static void add_text(struct arena *arena, struct msg_report_clause *clause, const char *text)
{
    for (uint32_t i = 0; i < clause->n_texts; i++)
        if (strcmp(clause->texts[i], text) == 0) return;
    const char **texts = arena_new_array(arena, clause->n_texts + 1, const char *);
    if (!texts) return;
    if (clause->n_texts) memcpy(texts, clause->texts, clause->n_texts * sizeof *texts);
    texts[clause->n_texts++] = text;
    clause->texts = texts;
}

static void add_clauses(struct arena *arena, const struct msg_judged *judged, uint32_t signal,
                        struct msg_report *report)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++) room += judged->findings[i].n_clauses;
    report->clauses = arena_new_array(arena, room, struct msg_report_clause);
    if (!report->clauses) return;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *finding = &judged->findings[i];
        if (finding->signal != signal || !is_reported(finding)) continue;
        for (uint32_t k = 0; k < finding->n_clauses; k++)
            if (finding->clauses[k].text)
                add_text(arena, clause_with_label(report, label_of(&finding->clauses[k])), finding->clauses[k].text);
    }
}

void report_make(struct request *request, uint32_t index, struct msg_verdict *verdict)
{
    const struct msg_judged *judged = &request->judged[index];
    verdict->report = arena_new_array(&request->arena, judged->n_findings, struct msg_report);
    if (!verdict->report) return;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        if (!is_reported(&judged->findings[i]) || is_already_reported(judged, i)) continue;
        struct msg_report *report = &verdict->report[verdict->n_report++];
        *report = describe(judged->findings[i].signal);
        add_clauses(&request->arena, judged, judged->findings[i].signal, report);
    }
}

/* Returns the signal of the most critical finding, or -1 if there is no finding. */
static int most_critical(const struct request *request, const struct msg_judged *judged)
{
    const uint8_t *rank = request->core->config.models->critical;
    int best = -1;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        int signal = (int)judged->findings[i].signal;
        if (!is_reported(&judged->findings[i]) || signal >= VSIG_ID_END) continue;
        if (signal == MSG_INVALID_SQL) return signal;
        if (best < 0 || rank[signal] < rank[best]) best = signal;
    }
    return best;
}

const char *report_cause(const struct request *request, uint32_t index)
{
    int signal = request->judged && index < request->n ? most_critical(request, &request->judged[index]) : -1;
    return signal < 0 ? "not enough evidence" : describe((uint32_t)signal).cause;
}

/* --- questions --- */

static const char *fact_of(const struct msg_finding *finding, const char *key)
{
    for (uint32_t i = 0; i < finding->n_facts; i++)
        if (strcmp(finding->facts[i].key, key) == 0) return finding->facts[i].value;
    return NULL;
}

/* Splits a name into words: "Song_release_year" becomes "song release year". Returns "" if it has no words. */
static const char *words_of(struct arena *arena, const char *name, size_t len)
{
    struct text_tokens words = text_split_identifier(arena, name, len);
    const char *out = "";
    for (uint32_t i = 0; out && i < words.n; i++)
        out = arena_printf(arena, "%s%s%s", out, i ? " " : "", words.items[i].norm);
    return out ? out : "";
}

/* Describes a column or a table in words: "song.release_year" becomes "the release year of the song", and "song"
 * becomes "the song". Returns NULL if the name has no words. */
static const char *thing_of(struct arena *arena, const char *name)
{
    const char *dot = strchr(name, '.');
    const char *table = words_of(arena, name, dot ? (size_t)(dot - name) : strlen(name));
    const char *column = dot ? words_of(arena, dot + 1, strlen(dot + 1)) : NULL;
    if (!*table || (dot && !*column)) return NULL;
    return dot ? arena_printf(arena, "the %s of the %s", column, table) : arena_printf(arena, "the %s", table);
}

/* Questions about findings, built from two of their facts. A fact in quotes is a value and is not changed. */
static const struct {
    enum vsig_id signal;
    const char *before, *first, *between, *second, *after;
    bool quotes_first;
} questions_about[] = {
    {VSIG_ID_rival_column, "Do you mean ", "named", " or ", "used", "?", false},
    {VSIG_ID_value_ambiguity, "Is '", "value", "' meant as ", "column", "?", true},
    {VSIG_ID_table_similarity, "Do you mean the data of ", "alternative", "", NULL, "?", false},
};

/* Asks whether the user means a name. The question contains the name in words, its comment and some of its values. */
static const char *question_about_linking(struct arena *arena, const struct msg_finding *finding)
{
    const char *name = fact_of(finding, "name"), *comment = fact_of(finding, "comment"),
               *values = fact_of(finding, "values");
    const char *thing = name ? thing_of(arena, name) : NULL;
    if (!name)
        return "Does the answer need other tables or columns too? The schema linker was not sure that its list is "
               "complete.";
    if (!thing) return NULL;
    return arena_printf(arena, "Do you mean %s%s%s%s%s%s? The schema linker was not sure.", thing, comment ? " (" : "",
                        comment ? comment : "", comment ? ")" : "", values ? ", for example " : "",
                        values ? values : "");
}

/* Returns a question about the finding. Returns NULL if the finding's message is itself the best question. */
static const char *question_about(struct arena *arena, const struct msg_finding *finding)
{
    if (finding->signal == VSIG_ID_linking_uncertain) return question_about_linking(arena, finding);
    for (size_t i = 0; i < sizeof questions_about / sizeof *questions_about; i++) {
        if (finding->signal != (uint32_t)questions_about[i].signal) continue;
        const char *first = fact_of(finding, questions_about[i].first);
        const char *second = questions_about[i].second ? fact_of(finding, questions_about[i].second) : NULL;
        if (!first || (questions_about[i].second && !second)) return NULL;
        if (!questions_about[i].quotes_first) first = thing_of(arena, first);
        second = second ? thing_of(arena, second) : "";
        if (!first || !second) return NULL;
        return arena_printf(arena, "%s%s%s%s%s", questions_about[i].before, first, questions_about[i].between, second,
                            questions_about[i].after);
    }
    return NULL;
}

void report_ask(struct request *request, uint32_t index, struct msg_verdict *verdict)
{
    const struct msg_judged *judged = &request->judged[index];
    const char **questions = arena_new_array(&request->arena, MAX_QUESTIONS, const char *);
    if (!questions) return;
    for (uint32_t i = 0; i < judged->n_findings && verdict->n_questions < MAX_QUESTIONS; i++) {
        if (!is_reported(&judged->findings[i]) || !judged->findings[i].message) continue;
        const char *text = question_about(&request->arena, &judged->findings[i]);
        if (!text) text = arena_printf(&request->arena, "Is this what you mean? %s", judged->findings[i].message);
        if (text) questions[verdict->n_questions++] = text;
    }
    if (verdict->n_questions == 0)
        questions[verdict->n_questions++] = "Can you rephrase the question and name the things that it is about?";
    verdict->questions = questions;
}
