/* Model files: JSON objects with a format name and a version. Reading is bounded. Writing replaces the whole file. */
#ifndef ASSAY_LIB_LEARN_JSON_FILE_H
#define ASSAY_LIB_LEARN_JSON_FILE_H

#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { MODEL_FILE_MAX = 64 * 1024 * 1024 };

/* Reads a whole file of at most MODEL_FILE_MAX bytes. Free *text with g_free. */
enum err_code model_file_read(const char *path, char **text, size_t *len, struct err *err);

/* Writes a file. Writes a temporary file first, so that no reader sees an incomplete model. */
enum err_code model_file_write(const char *path, const char *text, struct err *err);

/* Checks that `root` is {"format": format, "version": at most version, ...}. Returns ERR_MALFORMED or ERR_VERSION. */
enum err_code model_json_check(const json_t *root, const char *format, int version, struct err *err);
/* Parses the text and checks it with model_json_check. Release *out with json_decref. */
enum err_code model_json_parse(const char *text, size_t len, const char *format, int version, json_t **out,
                               struct err *err);

/* Read and check members of an object. Each function returns false if the member is absent, has another type, or is out
 * of range. */
bool model_get_real(const json_t *object, const char *key, double low, double high, double *out);
bool model_get_count(const json_t *object, const char *key, size_t most, size_t *out);
/* Returns false, too, if the text does not fit in `room` bytes. */
bool model_get_text(const json_t *object, const char *key, size_t room, char *out);
bool model_get_reals(const json_t *object, const char *key, double low, double high, size_t n, double *out);
bool model_read_reals(const json_t *array, double low, double high, size_t n, double *out);

json_t *model_reals(const double *values, size_t n);

/* Returns the text of a model file, either with one value on each line or compact. Takes the reference to `root`. Free
 * the text with free. Returns NULL if memory runs out or the tree contains a NULL. */
char *model_json_text(json_t *root, bool compact);

/* Returns a copy that is valid UTF-8, as JSON requires. Returns "" for NULL. Free with g_free. */
char *model_plain_text(const char *text);

#endif
