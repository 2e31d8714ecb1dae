/* Arena: memory that is freed all at once.
 *
 * One arena a request or candidate. Allocation is a pointer bump; there is no free of a single object. The byte cap
 * makes hostile input fail with NULL instead of growing without bound: every caller checks. Not thread-safe: an
 * arena belongs to one thread at a time. Under AddressSanitizer the unused part of each chunk is poisoned.
 */
#ifndef ASSAY_LIB_BASE_ARENA_H
#define ASSAY_LIB_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *next, *end;           /* free part of the newest chunk */
    size_t used, cap;           /* bytes taken from malloc; upper bound of them */
    bool failed;                /* the cap or malloc has refused at least once since the last reset */
};

/* Make an empty arena that never takes more than `cap` bytes (0: 64 MiB). Takes no memory yet; cannot fail. */
void arena_init(struct arena *arena, size_t cap);

/* Give everything back. The arena may be used again. */
void arena_free(struct arena *arena);

/* Forget all objects but keep a chunk for the next request: the largest of up to 128 KiB, or else the first. */
void arena_reset(struct arena *arena);

/* `size` bytes aligned for any type, uninitialised; or zeroed. NULL when the cap or malloc says no. size 0 is 1. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);

/* `count` zeroed objects of `size` bytes; NULL on overflow too. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies, NUL-terminated. NULL when the arena is full. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(arena, type)          ((type *)arena_zalloc((arena), sizeof(type)))
#define arena_new_array(arena, n, type) ((type *)arena_array((arena), (n), sizeof(type)))

#endif
