/* Files of tensors in the safetensors format: eight bytes with the length of a JSON header, the header with name, type and place of
 * each tensor and a text for each key of `__metadata__`, the numbers one after the other, little-endian.
 *
 * Read with suspicion: header and counts are bounded, every tensor lies within the file, and rows are read when they are asked for, so that
 * memory does not grow with the file and a file that shrinks meanwhile is an error, not a crash. One and two dimensions of F16 and F32; others
 * are refused by name. Thread: an object by one at a time.
 */
#ifndef ASSAY_LIB_LEARN_TENSORS_H
#define ASSAY_LIB_LEARN_TENSORS_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TENSORS_MAX_HEADER = 1 << 20,
    TENSORS_MAX = 4096,
    TENSORS_MAX_COLUMNS = 1 << 20,
};

enum tensor_type { TENSOR_F16, TENSOR_F32 };

struct tensor {
    char *name;
    enum tensor_type type;
    uint64_t rows, columns; /* of one dimension: one row */
    uint64_t offset;        /* of its first number in the file */
};

struct tensors {
    char *path;                 /* or what the bytes are called in messages */
    int fd;                     /* -1: of bytes in memory */
    const unsigned char *bytes; /* borrowed */
    uint64_t size;
    struct tensor *items; /* ordered by name */
    uint32_t n;
    void *metadata; /* private */
    void *buffer;   /* of one row */
};

/* ERR_IO, ERR_MALFORMED, ERR_LIMIT_BYTES, ERR_LIMIT_COUNT; on success the caller owes tensors_close. */
enum err_code tensors_open(const char *path, struct tensors **out, struct err *err);
/* The same of bytes in memory, which must outlive the object; `name` is what they are called in messages. */
enum err_code tensors_read(const void *bytes, size_t len, const char *name, struct tensors **out, struct err *err);
void tensors_close(struct tensors *tensors);

/* A text of `__metadata__`; NULL: there is none. Lives as long as the object. */
const char *tensors_metadata(const struct tensors *tensors, const char *key);
/* NULL: there is none of this name. */
const struct tensor *tensors_find(const struct tensors *tensors, const char *name);
/* One row as floats. ERR_IO; ERR_MALFORMED for a row that is not there or holds what is no finite number. */
enum err_code tensors_row(struct tensors *tensors, const struct tensor *tensor, uint64_t row, float *out,
                          struct err *err);
/* All rows, one after the other. */
enum err_code tensors_all(struct tensors *tensors, const struct tensor *tensor, float *out, struct err *err);

/* --- writing --- */

struct tensors_writer; /* collects */

struct tensors_writer *tensors_writer_new(void);
void tensors_writer_free(struct tensors_writer *writer);
void tensors_writer_metadata(struct tensors_writer *writer, const char *key, const char *text);
/* Copies the numbers. Names are not repeated. */
void tensors_writer_add(struct tensors_writer *writer, const char *name, enum tensor_type type, const float *numbers,
                        uint64_t rows, uint64_t columns);
/* The file, written whole or not at all. ERR_IO. */
enum err_code tensors_writer_save(const struct tensors_writer *writer, const char *path, struct err *err);

/* Half precision. Beyond its range: infinity. */
float tensor_from_half(uint16_t half);
uint16_t tensor_to_half(float value);

#endif
