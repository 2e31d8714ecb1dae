/* JSON from a peer that nobody vouches for. */
#ifndef ASSAY_LIB_LLM_REMOTE_JSON_H
#define ASSAY_LIB_LLM_REMOTE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REMOTE_JSON_DEPTH = 32 };

/* Parse a whole text: strict JSON, no repeated keys, at most REMOTE_JSON_DEPTH levels (checked before anything is
 * built). NULL: it is not that. The caller owes json_decref. Thread: any. */
json_t *remote_json(const char *text, size_t len);
/* The same, but a string may hold NUL, as a list of tokens does (llama.cpp, of a model that has one for each byte); remote_text
 * reads those that do not. */
json_t *remote_json_with_nul(const char *text, size_t len);
/* A string without NUL, owned by `value`; NULL: something else, or absent. */
const char *remote_text(const json_t *value);

/* The first balanced {...} in `from`: its start, and its length in *len; NULL: there is none. */
const char *remote_json_object(const char *from, size_t *len);

/* A number (whole or not) of finite value; false: something else, or absent. */
bool remote_number(const json_t *value, double *out);

/* Copy what is printable ASCII of `text` (may be NULL), cut at `room`. */
void remote_word(const char *text, char *out, size_t room);

#endif
