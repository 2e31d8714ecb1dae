/* What a language model is asked about a candidate, and what it answered: the ground of the family llm.
 *
 * Each signal of the family has a part of the instructions (prompts/signals/<name>.txt), a part of the answer's schema, and reads its own part of the
 * answer and no other. An answer is hostile text: what is not in the form, or contradicts itself, makes that signal unavailable; pieces of SQL
 * that are not in the query and columns that are not in the schema are left out, and a note says so.
 */
#ifndef ASSAY_SIGNALS_SUPPORT_ASK_H
#define ASSAY_SIGNALS_SUPPORT_ASK_H

#include "signals/vsig.h"

#include <jansson.h>

/* Signals of the family, in the order in which they are asked. */
#define ASK_SIGNALS(X)                                                                                                 \
    X(evidence_violation) X(insufficient_evidence) X(question_clause_linking) X(column_ambiguity) X(self_check)
enum ask_signal {
#define X(name) ASK_##name,
    ASK_SIGNALS(X)
#undef X
        ASK_COUNT
};
enum { ASK_ALL = (1U << ASK_COUNT) - 1 };

/* An answer: for each signal its part, as JSON; or, where that is NULL, why there is none. */
struct vsig_reply {
    const json_t *parts[ASK_COUNT];
    const char *reasons[ASK_COUNT];
};

/* Instructions for the signals of `which` (bits), the versions of all parts on the first line. `dir`: a folder whose files signals.txt and
 * <name>.txt take the place of those of prompts/; NULL. malloc'd; NULL with `err`: ERR_CONFIG, a file of it cannot be read or has no version. */
char *ask_prompt(unsigned which, const char *dir, struct err *err);
/* The JSON schema of the answer. malloc'd. */
char *ask_schema(unsigned which);

/* The running signal's part of the answer; NULL: there is none, and the signal is unavailable. */
const json_t *ask_part(struct vsig_run *run);
/* A member that has to be there; false: it is not, and the signal is unavailable. Text: any length, not empty. */
bool ask_bool(struct vsig_run *run, const json_t *part, const char *member, bool *out);
bool ask_share(struct vsig_run *run, const json_t *part, const char *member, double *out); /* 0 to 1 */
const json_t *ask_list(struct vsig_run *run, const json_t *part, const char *member);
/* Member `member` of an entry of a list; NULL: it is no text. */
const char *ask_text(const json_t *entry, const char *member);
/* Unavailable: the answer is not in the form asked for. */
void ask_malformed(struct vsig_run *run);

/* The smallest part of the query that holds this piece of its text; NULL: the piece is not in it. */
const struct sql_node *ask_place(const struct vsig_run *run, const char *piece);
/* Mark each piece of a list of texts (NULL: none), the whole query where none can be marked; pieces that are not in the query are counted in
 * *dropped. */
void ask_mark(struct vsig_run *run, struct vsig_finding *finding, const json_t *pieces, unsigned *dropped);
/* A note about what was left out, if anything was. */
void ask_note_dropped(struct vsig_run *run, unsigned dropped);
/* The model's own words, one line, shortened; hidden where the data is. */
void ask_quote(struct vsig_run *run, struct vsig_finding *finding, const json_t *part);

#endif
