/* What a schema linker did, as it was recorded (docs/traces.md): for a question the names it could write, the tokens it chose, the tokens
 * it went on with, and for each token the hidden states of some layers.
 *
 * A token where the linker's own choice is not the right one is a branching point (Reliable Text-to-SQL with Adaptive Abstention,
 * section 3.1). A recording with gold went on with the right token there, so that one generation may have several.
 *
 * Recordings come from outside: everything is bounded and checked before it is used, and what is refused says which line of which file.
 * Thread: an object by one at a time.
 */
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
    TRACE_MAX_ROWS = 999999,    /* tokens of one recording */
    TRACE_MAX_MESSAGE = 4 << 20 /* bytes */
};

enum trace_stage { TRACE_TABLES, TRACE_COLUMNS, TRACE_STAGES };
extern const char *const trace_stage_names[TRACE_STAGES]; /* "tables", "columns" */

struct trace_ids {
    const uint32_t *items;
    uint32_t n;
};

struct trace_candidate {
    const char *name; /* "singer"; of a column "singer.name" */
    struct trace_ids ids;
};

struct trace_token {
    uint32_t id;                   /* the linker's own choice */
    uint32_t gold_id;              /* what it went on with; the same as id without gold */
    double probability;            /* of its choice, among what it might have written */
    struct trace_ids continuation; /* at a branching point: how the linker would have finished the name that it began */
};

/* One generation. Everything in the arena it was read into. */
struct trace {
    const char *id, *database, *question; /* "" where the line has none */
    enum trace_stage stage;
    struct trace_candidate *candidates;
    uint32_t n_candidates;
    struct trace_ids separator;
    uint32_t end; /* the token that ends the list */
    struct trace_token *tokens;
    uint32_t n_tokens;
    bool has_gold;
    uint64_t first_row; /* of the hidden states: the row of its first token */
};

/* Is the token's choice not the right one? */
bool trace_is_branching(const struct trace_token *token);

/* A line of a recording, or one trace of a message. ERR_MALFORMED, ERR_VERSION, ERR_LIMIT_*; first_row is left 0. */
enum err_code trace_from_json(struct arena *arena, const json_t *line, struct trace **out, struct err *err);

/* Numbers of the candidates that a list of tokens names, in their order, each once; a last name that nothing finished counts when it
 * is whole. Returns how many; -1: the tokens are no list of names, or the arena is full. `out` in the arena. */
int trace_names(struct arena *arena, const struct trace *trace, const uint32_t *ids, uint32_t n, uint32_t **out);

/* Algorithm 2, trace back: which candidate the linker was writing with its choice of token `at`; -1: it ended the list, or nothing that is
 * a name. Before that point it has written what it went on with. */
int trace_back(struct arena *arena, const struct trace *trace, uint32_t at);
/* The candidate that was right at this place; -1: the list was to end there, or there is no gold. */
int trace_gold_at(struct arena *arena, const struct trace *trace, uint32_t at);

/* --- recordings --- */

struct recording {
    char *path; /* of the lines */
    struct lines lines;
    struct tensors *states;
    const struct tensor *layers[TRACE_MAX_LAYERS];
    uint32_t layer_numbers[TRACE_MAX_LAYERS]; /* ascending */
    uint32_t n_layers, hidden;
    uint64_t rows; /* of the lines read so far */
    uint64_t all;  /* of the hidden states */
};

/* NAME.jsonl and NAME.safetensors; `name` may end in .jsonl. ERR_IO, ERR_MALFORMED (layers are missing, of different shapes, or none),
 * ERR_LIMIT_ROWS. On success the caller owes recording_close. */
enum err_code recording_open(const char *name, struct recording *out, struct err *err);
void recording_close(struct recording *recording);

/* The next generation into the arena. *out NULL at the end, where a recording with more states than tokens is ERR_MALFORMED. An error of
 * any kind ends the reading: what follows could not be told apart. */
enum err_code recording_next(struct recording *recording, struct arena *arena, struct trace **out, struct err *err);

/* The hidden state of a layer (a place in `layers`) before a token of a trace; `hidden` floats. */
enum err_code recording_state(struct recording *recording, uint32_t layer, const struct trace *trace, uint32_t token,
                              float *out, struct err *err);

/* --- messages --- */

/* One generation that travels by itself, over HTTP or as a record of a topic: a safetensors file of its own whose metadata holds the line as
 * `trace`. The bytes must outlive *out, which is a recording of this one generation; `name` is what it is called in messages. ERR_LIMIT_BYTES, and
 * what recording_open and recording_next say. On success the caller owes recording_close. */
enum err_code trace_message_read(const void *bytes, size_t len, const char *name, struct arena *arena,
                                 struct recording *out, struct trace **trace, struct err *err);

#endif
