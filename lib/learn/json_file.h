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

/* Write through a temporary file, so that nobody sees half a model. */
enum err_code model_file_write(const char *path, const char *text, struct err *err);

/* Is it {"format": format, "version": up to version, ...}? ERR_MALFORMED, ERR_VERSION. */
enum err_code model_json_check(const json_t *root, const char *format, int version, struct err *err);
/* Parse and check. The caller owes json_decref. */
enum err_code model_json_parse(const char *text, size_t len, const char *format, int version, json_t **out,
                               struct err *err);

/* Members, checked. Each returns false when the member is absent, of another type, or out of its range. */
bool model_get_real(const json_t *object, const char *key, double low, double high, double *out);
bool model_get_count(const json_t *object, const char *key, size_t most, size_t *out);
bool model_get_text(const json_t *object, const char *key, size_t room, char *out); /* cut is false, too */
bool model_get_reals(const json_t *object, const char *key, double low, double high, size_t n, double *out);
bool model_read_reals(const json_t *array, double low, double high, size_t n, double *out);

json_t *model_reals(const double *values, size_t n);

/* Text of a model file, one value a line or compact; frees `root`. malloc'd; NULL: out of memory or a NULL in the tree.
 */
char *model_json_text(json_t *root, bool compact);

/* A copy that is valid UTF-8, as JSON asks for; NULL gives "". g_free. */
char *model_plain_text(const char *text);

#endif
