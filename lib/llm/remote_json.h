/* Parses JSON from an untrusted peer. */
#ifndef ASSAY_LIB_LLM_REMOTE_JSON_H
#define ASSAY_LIB_LLM_REMOTE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REMOTE_JSON_DEPTH = 32 };

/* Parses a text as strict JSON. Returns NULL if the text is not JSON, repeats a key, or is nested deeper than
 * REMOTE_JSON_DEPTH. The depth is checked before memory is allocated. Release with json_decref. Thread: any. */
json_t *remote_json(const char *text, size_t len);
/* Like remote_json, but a string may contain NUL. Lists of tokens need this: llama.cpp lists the token of the byte 0 if
 * a model has one. Read strings of the result with remote_text. */
json_t *remote_json_with_nul(const char *text, size_t len);
/* Returns the string in `value`, which owns it. Returns NULL if `value` is NULL, is not a string, or contains a NUL. */
const char *remote_text(const json_t *value);

/* Finds the first {...} with balanced brackets in `from`. Returns its start and sets *len to its length. Returns NULL
 * if there is none. */
const char *remote_json_object(const char *from, size_t *len);

/* Reads a finite number. Returns false if `value` is NULL or not a finite number. */
bool remote_number(const json_t *value, double *out);

/* Copies the printable ASCII characters of `text`, except spaces. Truncates the copy to `room` bytes with its NUL.
 * `text` may be NULL. */
void remote_word(const char *text, char *out, size_t room);

#endif
