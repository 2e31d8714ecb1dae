/* A recorded run of a schema linker (docs/traces.md). For a question, it has the candidate names, the tokens that the
 * linker chose, and the tokens that it continued with. For each token, it has the hidden states of some layers.
 *
 * A token at which the linker's choice is wrong is a branching point (Reliable Text-to-SQL with Adaptive Abstention,
 * section 3.1). A recording with gold continues with the right token after an error, so one generation may have several
 * branching points.
 *
 * Recordings are untrusted: everything is bounded and checked before use, and an error names the file and the line.
 * Thread: one at a time for each object. */
#ifndef ASSAY_LINKING_TRACE_H
#define ASSAY_LINKING_TRACE_H

#include "lib/base/arena.h"
#include "lib/base/input.h"
#include "lib/learn/tensors.h"

#include <jansson.h>

enum {
    TRACE_MAX_CANDIDATES = 20000,
    TRACE_MAX_NAME_TOKENS = 256,
    TRACE_MAX_TOKENS = 8192,
    TRACE_MAX_LAYERS = 256,
    TRACE_MAX_HIDDEN = 16384,
    TRACE_MAX_ROWS = 999999,    /* maximum number of tokens in a recording */
    TRACE_MAX_MESSAGE = 4 << 20 /* in bytes */
};

enum trace_stage { TRACE_TABLES, TRACE_COLUMNS, TRACE_STAGES };
extern const char *const trace_stage_names[TRACE_STAGES]; /* "tables", "columns" */

struct trace_ids {
    const uint32_t *items;
    uint32_t n;
};

struct trace_candidate {
    const char *name; /* such as "singer"; for a column such as "singer.name" */
    struct trace_ids ids;
};

struct trace_token {
    uint32_t id;                   /* the token that the linker chose */
    uint32_t gold_id;              /* the token that the linker continued with; without gold, the same as `id` */
    double probability;            /* probability of the chosen token among the allowed tokens */
    struct trace_ids continuation; /* at a branching point: the linker's own completion of the name */
};

/* One generation. It is owned by the arena that it was read into. */
struct trace {
    const char *id, *database, *question; /* "" if the recording has none */
    enum trace_stage stage;
    struct trace_candidate *candidates;
    uint32_t n_candidates;
    struct trace_ids separator;
    uint32_t end; /* the token that ends the list */
    struct trace_token *tokens;
    uint32_t n_tokens;
    bool has_gold;
    uint64_t first_row; /* row of the first token in the hidden states */
};

/* True if the linker's choice of the token is wrong. */
bool trace_is_branching(const struct trace_token *token);

/* Reads a line of a recording, or the trace of a message. Returns ERR_MALFORMED, ERR_VERSION or ERR_LIMIT_*. Leaves
 * first_row 0. */
enum err_code trace_from_json(struct arena *arena, const json_t *line, struct trace **out, struct err *err);

/* Finds the candidates that a list of tokens names, each once and in order. An unterminated last name counts if it is
 * complete. Returns their number. Returns -1 if the tokens are not a list of names, or the arena is full. `out` is in
 * the arena. */
int trace_names(struct arena *arena, const struct trace *trace, const uint32_t *ids, uint32_t n, uint32_t **out);

/* Returns the candidate that the linker was writing when it chose token `at` (Algorithm 2, trace back). Returns -1 if
 * the choice ended the list or is not part of a name. The tokens before `at` are those that the linker continued
 * with. */
int trace_back(struct arena *arena, const struct trace *trace, uint32_t at);
/* Returns the correct candidate at token `at`. Returns -1 if the list should end there, or there is no gold. */
int trace_gold_at(struct arena *arena, const struct trace *trace, uint32_t at);

/* --- recordings --- */

struct recording {
    char *path; /* path of the file with the lines */
    struct lines lines;
    struct tensors *states;
    const struct tensor *layers[TRACE_MAX_LAYERS];
    uint32_t layer_numbers[TRACE_MAX_LAYERS]; /* ascending */
    uint32_t n_layers, hidden;
    uint64_t rows; /* number of hidden states that belong to the lines read so far */
    uint64_t all;  /* number of all hidden states */
};

/* Opens NAME.jsonl and NAME.safetensors; `name` may end in .jsonl. Returns ERR_IO, ERR_LIMIT_ROWS, or ERR_MALFORMED if
 * layers are missing or differ in shape. On success, close with recording_close. */
enum err_code recording_open(const char *name, struct recording *out, struct err *err);
void recording_close(struct recording *recording);

/* Reads the next generation into the arena. At the end, sets *out to NULL; a recording with more states than tokens is
 * then ERR_MALFORMED. Do not continue after an error, because the rows of the next line are then unknown. */
enum err_code recording_next(struct recording *recording, struct arena *arena, struct trace **out, struct err *err);

/* Reads the hidden state before a token of a trace, which has `hidden` floats. `layer` is an index in `layers`. */
enum err_code recording_state(struct recording *recording, uint32_t layer, const struct trace *trace, uint32_t token,
                              float *out, struct err *err);

/* --- messages --- */

/* Reads one generation that was sent as a message, over HTTP or as a record of a topic. The message is a safetensors
 * file whose metadata has the line as `trace`. The bytes must outlive *out, which is a recording of only this
 * generation. `name` identifies the message in errors. Returns ERR_LIMIT_BYTES and the errors of recording_open and
 * recording_next. On success, close with recording_close. */
enum err_code trace_message_read(const void *bytes, size_t len, const char *name, struct arena *arena,
                                 struct recording *out, struct trace **trace, struct err *err);

#endif
