/* Model files: JSON objects with a format name and a version, read within bounds and written whole. */
#ifndef ASSAY_LIB_LEARN_JSON_FILE_H
#define ASSAY_LIB_LEARN_JSON_FILE_H

#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { MODEL_FILE_MAX = 64 * 1024 * 1024 };

/* Read a whole file of at most MODEL_FILE_MAX bytes. The caller frees *text with g_free. */
enum err_code model_file_read(const char *path, char **text, size_t *len, struct err *err);

/* Writes through a temporary file, so that no reader sees an incomplete model. */
enum err_code model_file_write(const char *path, const char *text, struct err *err);

/* Checks for {"format": format, "version": up to version, ...}. Returns ERR_MALFORMED or ERR_VERSION. */
enum err_code model_json_check(const json_t *root, const char *format, int version, struct err *err);
/* Parses and checks. The caller owes json_decref. */
enum err_code model_json_parse(const char *text, size_t len, const char *format, int version, json_t **out,
                               struct err *err);

/* Read members of an object, checked. Each returns false if the member is absent, of another type, or out of its
 * range. */
bool model_get_real(const json_t *object, const char *key, double low, double high, double *out);
bool model_get_count(const json_t *object, const char *key, size_t most, size_t *out);
bool model_get_text(const json_t *object, const char *key, size_t room, char *out); /* a text that does not fit is
                                                                                     * false, too */
bool model_get_reals(const json_t *object, const char *key, double low, double high, size_t n, double *out);
bool model_read_reals(const json_t *array, double low, double high, size_t n, double *out);

json_t *model_reals(const double *values, size_t n);

/* Returns the text of a model file, one value a line or compact, and frees `root`. malloc'd; NULL if memory runs out or
 * the tree has a NULL. */
char *model_json_text(json_t *root, bool compact);

/* Returns a copy that is valid UTF-8, as JSON requires; NULL gives "". Free with g_free. */
char *model_plain_text(const char *text);

#endif
