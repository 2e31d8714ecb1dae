/* Arena: memory that is freed all at once.
 *
 * One arena serves one request or candidate. Allocation advances a pointer; single objects cannot be freed. An
 * allocation beyond the byte cap returns NULL, so hostile input cannot take unbounded memory. Every caller must check
 * for NULL. An arena is not thread-safe: it belongs to one thread at a time. Under AddressSanitizer the unused part of
 * each chunk is poisoned.
 */
#ifndef ASSAY_LIB_BASE_ARENA_H
#define ASSAY_LIB_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* list of chunks, newest first */
    char *next, *end;           /* free part of the newest chunk */
    size_t used, cap;           /* bytes taken from malloc; the byte cap */
    bool failed;                /* an allocation has failed since the last reset */
};

/* Initialises an empty arena that takes at most `cap` bytes (0 means 64 MiB). Allocates nothing and cannot fail. */
void arena_init(struct arena *arena, size_t cap);

/* Frees all memory. The arena may be used again. */
void arena_free(struct arena *arena);

/* Discards all objects. Keeps one chunk for the next request: the largest of at most 128 KiB, or the first chunk if all
 * are larger. */
void arena_reset(struct arena *arena);

/* Return `size` bytes aligned for any type. arena_alloc leaves them uninitialised; arena_zalloc zeroes them. Return
 * NULL beyond the cap or if malloc fails. A size of 0 counts as 1. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);

/* Returns `count` zeroed objects of `size` bytes. Returns NULL if the arena is full or the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Return NUL-terminated copies, or NULL if the arena is full. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(arena, type)          ((type *)arena_zalloc((arena), sizeof(type)))
#define arena_new_array(arena, n, type) ((type *)arena_array((arena), (n), sizeof(type)))

#endif
