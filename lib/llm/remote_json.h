/* Parses JSON from an untrusted peer. */
#ifndef ASSAY_LIB_LLM_REMOTE_JSON_H
#define ASSAY_LIB_LLM_REMOTE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REMOTE_JSON_DEPTH = 32 };

/* Parses a whole text: strict JSON without repeated keys and with at most REMOTE_JSON_DEPTH levels, checked before
 * allocation. Returns NULL if it is invalid. Release with json_decref. Thread: any. */
json_t *remote_json(const char *text, size_t len);
/* Parses likewise, but a string may hold NUL, as in lists of tokens (llama.cpp, for a model with a token for each
 * byte). remote_text reads the strings without NUL. */
json_t *remote_json_with_nul(const char *text, size_t len);
/* Returns a string without NUL, owned by `value`, or NULL if it is something else or absent. */
const char *remote_text(const json_t *value);

/* Returns the start of the first balanced {...} in `from`, and sets its length in *len. Returns NULL if there is none.
 */
const char *remote_json_object(const char *from, size_t *len);

/* Reads a finite number, whole or not. Returns false if it is something else or absent. */
bool remote_number(const json_t *value, double *out);

/* Copies the printable ASCII of `text` (may be NULL), cut at `room`. */
void remote_word(const char *text, char *out, size_t room);

#endif
