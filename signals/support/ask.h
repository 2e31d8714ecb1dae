/* The request to a language model about a candidate, and the model's reply, for the family llm.
 *
 * Each signal of the family has one part of the instructions (prompts/signals/<name>.txt) and one part of the reply's
 * schema. It reads only its own part of the reply. A reply is untrusted text. A part that is malformed or contradicts
 * itself makes its signal unavailable. The reader drops SQL that is not in the query and columns that are not in the
 * schema, and adds a note about them. */
#ifndef ASSAY_SIGNALS_SUPPORT_ASK_H
#define ASSAY_SIGNALS_SUPPORT_ASK_H

#include "signals/vsig.h"

#include <jansson.h>

/* Signals of the family, in the order of their parts in the instructions. */
#define ASK_SIGNALS(X)                                                                                                 \
    X(evidence_violation) X(insufficient_evidence) X(question_clause_linking) X(column_ambiguity) X(self_check)
enum ask_signal {
#define X(name) ASK_##name,
    ASK_SIGNALS(X)
#undef X
        ASK_COUNT
};
enum { ASK_ALL = (1U << ASK_COUNT) - 1 };

/* A reply. For each signal it has its part as JSON, or NULL and the reason why the part is missing. */
struct vsig_reply {
    const json_t *parts[ASK_COUNT];
    const char *reasons[ASK_COUNT];
};

/* Returns the instructions for the signals of `which` (bits). The first line has the versions of all parts. `dir` may
 * be NULL. Otherwise it is a folder whose files signals.txt and <name>.txt replace the built-in ones. Free the result
 * with free. Returns NULL with ERR_CONFIG in `err` if a file cannot be read or has no version. */
char *ask_prompt(unsigned which, const char *dir, struct err *err);
/* Returns the JSON schema of a reply from the signals of `which` (bits). Free the result with free. */
char *ask_schema(unsigned which);

/* Returns the running signal's part of the reply. Returns NULL and makes the signal unavailable if the part is
 * missing. */
const json_t *ask_part(struct vsig_run *run);
/* Read a required member of a part. Return false or NULL and make the signal unavailable if the member is missing or
 * has the wrong type. */
bool ask_bool(struct vsig_run *run, const json_t *part, const char *member, bool *out);
bool ask_share(struct vsig_run *run, const json_t *part, const char *member, double *out); /* from 0 to 1 */
const json_t *ask_list(struct vsig_run *run, const json_t *part, const char *member);
/* Returns the text of a member of a list entry. Returns NULL if the member is not a text. The text may be long or
 * empty. */
const char *ask_text(const json_t *entry, const char *member);
/* Makes the signal unavailable because its part of the reply is malformed. */
void ask_malformed(struct vsig_run *run);

/* Returns the smallest part of the query that contains this text; NULL if the query does not contain it. */
const struct sql_node *ask_place(const struct vsig_run *run, const char *piece);
/* Adds to the finding the clause of each text in a list, which may be NULL. Adds the whole query if no text can be
 * found. Adds the number of texts that are not in the query to *dropped. */
void ask_mark(struct vsig_run *run, struct vsig_finding *finding, const json_t *pieces, unsigned *dropped);
/* Adds a note with the number of dropped texts and columns, unless it is 0. */
void ask_note_dropped(struct vsig_run *run, unsigned dropped);
/* Adds the model's reason as a fact: one line, shortened. Reports hide it where they hide data. */
void ask_quote(struct vsig_run *run, struct vsig_finding *finding, const json_t *part);

#endif
