/* The request to a language model about a candidate, and its answer, for the family llm.
 *
 * Each signal of the family has a part of the instructions (prompts/signals/<name>.txt) and a part of the answer's
 * schema, and reads only its own part of the answer. An answer is hostile text. A part that is malformed or contradicts
 * itself makes its signal unavailable. SQL that is not in the query and columns that are not in the schema are dropped,
 * and a note reports this. */
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

/* An answer: for each signal its part, as JSON, or NULL and the reason for its absence. */
struct vsig_reply {
    const json_t *parts[ASK_COUNT];
    const char *reasons[ASK_COUNT];
};

/* Returns the instructions for the signals of `which` (bits), with the versions of all parts on the first line. `dir`
 * is a folder whose files signals.txt and <name>.txt replace those of prompts/; it may be NULL. malloc'd; NULL with
 * `err`: ERR_CONFIG if a file cannot be read or has no version. */
char *ask_prompt(unsigned which, const char *dir, struct err *err);
/* Returns the JSON schema of the answer. malloc'd. */
char *ask_schema(unsigned which);

/* Returns the running signal's part of the answer. NULL if absent; the signal is then unavailable. */
const json_t *ask_part(struct vsig_run *run);
/* Read a required member. Return false if it is absent; the signal is then unavailable. Text: any length, not empty. */
bool ask_bool(struct vsig_run *run, const json_t *part, const char *member, bool *out);
bool ask_share(struct vsig_run *run, const json_t *part, const char *member, double *out); /* 0 to 1 */
const json_t *ask_list(struct vsig_run *run, const json_t *part, const char *member);
/* Returns member `member` of an entry of a list; NULL if it is not a text. */
const char *ask_text(const json_t *entry, const char *member);
/* Makes the signal unavailable: the answer is malformed. */
void ask_malformed(struct vsig_run *run);

/* Returns the smallest part of the query that contains this text; NULL if the query does not contain it. */
const struct sql_node *ask_place(const struct vsig_run *run, const char *piece);
/* Marks each text of a list (which may be NULL) in the query, or the whole query if none can be marked. Counts texts
 * that are not in the query in *dropped. */
void ask_mark(struct vsig_run *run, struct vsig_finding *finding, const json_t *pieces, unsigned *dropped);
/* Adds a note about dropped parts, if there are any. */
void ask_note_dropped(struct vsig_run *run, unsigned dropped);
/* Quotes the model, in one shortened line; hidden if data must be hidden. */
void ask_quote(struct vsig_run *run, struct vsig_finding *finding, const json_t *part);

#endif
