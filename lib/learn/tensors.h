/* Files of tensors in the safetensors format: eight bytes with the length of a JSON header, the header, and the
 * numbers. The numbers are contiguous and little-endian. The header has the name, type and offset of each tensor, and a
 * text for each key of `__metadata__`.
 *
 * Files are untrusted. The header and the counts are bounded, and every tensor must lie within the file. Rows are read
 * on request, so memory does not grow with the file. If a file shrinks while it is open, reading fails with an error.
 * Tensors have one or two dimensions of F16 or F32; the error for another tensor names it. Thread: any, one at a time
 * for an object. */
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
    uint64_t rows, columns; /* a tensor of one dimension has one row */
    uint64_t offset;        /* of the first number of the tensor in the file */
};

struct tensors {
    char *path;                 /* path of the file; for bytes in memory, their name in messages */
    int fd;                     /* -1 for bytes in memory */
    const unsigned char *bytes; /* owned by the caller */
    uint64_t size;
    struct tensor *items; /* ordered by name */
    uint32_t n;
    void *metadata; /* private to tensors.c */
    void *buffer;   /* buffer for one row */
};

/* Opens a file. Returns ERR_IO, ERR_MALFORMED, ERR_LIMIT_BYTES or ERR_LIMIT_COUNT. On success, free *out with
 * tensors_close. */
enum err_code tensors_open(const char *path, struct tensors **out, struct err *err);
/* Opens bytes in memory, which must outlive the object. `name` identifies them in messages. */
enum err_code tensors_read(const void *bytes, size_t len, const char *name, struct tensors **out, struct err *err);
void tensors_close(struct tensors *tensors);

/* Returns a text of `__metadata__`, or NULL. The object owns the text. */
const char *tensors_metadata(const struct tensors *tensors, const char *key);
/* Returns the tensor of this name, or NULL. */
const struct tensor *tensors_find(const struct tensors *tensors, const char *name);
/* Reads one row as floats. Returns ERR_IO if reading fails. Returns ERR_MALFORMED if the row does not exist or contains
 * a number that is not finite. */
enum err_code tensors_row(struct tensors *tensors, const struct tensor *tensor, uint64_t row, float *out,
                          struct err *err);
/* Reads all rows into `out`, one after another. Errors as for tensors_row. */
enum err_code tensors_all(struct tensors *tensors, const struct tensor *tensor, float *out, struct err *err);

/* --- writing --- */

struct tensors_writer; /* collects the tensors of a file */

struct tensors_writer *tensors_writer_new(void);
void tensors_writer_free(struct tensors_writer *writer);
void tensors_writer_metadata(struct tensors_writer *writer, const char *key, const char *text);
/* Adds a tensor and copies its numbers. Each name may be added once. */
void tensors_writer_add(struct tensors_writer *writer, const char *name, enum tensor_type type, const float *numbers,
                        uint64_t rows, uint64_t columns);
/* Writes the file completely or not at all. Returns ERR_IO if that fails. */
enum err_code tensors_writer_save(const struct tensors_writer *writer, const char *path, struct err *err);

/* Convert from and to half precision. A value beyond the range of half precision becomes infinity. */
float tensor_from_half(uint16_t half);
uint16_t tensor_to_half(float value);

#endif
