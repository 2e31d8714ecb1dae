/* Implements the arena as a list of chunks from malloc (arena.h). Objects are allocated in the newest chunk. Chunk
 * sizes double up to LARGEST_STEP. Whole chunks count against the cap, so hostile input cannot exceed it. A reset keeps
 * one chunk, so most requests need no malloc. */
#include "lib/base/arena.h"

#include "lib/base/poison.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_CHUNK = 16 * 1024, LARGEST_STEP = 1024 * 1024, KEPT_CHUNK = 128 * 1024, SMALL_TEXT = 512 };
static const size_t DEFAULT_CAP = 64UL * 1024 * 1024;

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* bytes of `data` */
    _Alignas(ALIGN) char data[];
};

void arena_init(struct arena *arena, size_t cap)
{
    *arena = (struct arena){.cap = cap ? cap : DEFAULT_CAP};
}

static void chunk_free(struct arena_chunk *chunk)
{
    UNPOISON(chunk->data, chunk->size);
    free(chunk);
}

void arena_free(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        chunk_free(chunk);
        chunk = older;
    }
    arena_init(arena, arena->cap);
}

/* True if a reset should keep `chunk` rather than `kept`, which may be NULL. Chunks are not sorted by size: the newest
 * chunk may be smaller than its predecessor if the cap left less space. */
static bool stays_before(const struct arena_chunk *chunk, const struct arena_chunk *kept)
{
    if (chunk->size > KEPT_CHUNK) return !kept && !chunk->older;
    return !kept || chunk->size > kept->size;
}

/* Frees all chunks but one: the largest of at most KEPT_CHUNK bytes, otherwise the oldest chunk. Returns the remaining
 * one. */
static struct arena_chunk *keep_one(struct arena_chunk *chunk)
{
    struct arena_chunk *kept = NULL;
    for (struct arena_chunk *older; chunk; chunk = older) {
        older = chunk->older;
        struct arena_chunk *left = chunk;
        if (stays_before(chunk, kept)) {
            left = kept;
            kept = chunk;
        }
        if (left) chunk_free(left);
    }
    kept->older = NULL;
    return kept;
}

void arena_reset(struct arena *arena)
{
    if (!arena->chunks) {
        arena->failed = false;
        return;
    }
    struct arena_chunk *chunk = arena->chunks = keep_one(arena->chunks);
    arena->next = chunk->data;
    arena->end = chunk->data + chunk->size;
    arena->used = sizeof *chunk + chunk->size;
    arena->failed = false;
    POISON(chunk->data, chunk->size);
}

/* Adds a chunk of at least `need` bytes. Sizes double from FIRST_CHUNK to LARGEST_STEP. Returns false beyond the cap or
 * if malloc fails. */
static bool grow(struct arena *arena, size_t need)
{
    size_t size = arena->chunks ? arena->chunks->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_STEP) size = LARGEST_STEP;
    if (size < need) size = need;
    size_t room = arena->cap > arena->used ? arena->cap - arena->used : 0;
    if (sizeof(struct arena_chunk) + size > room) size = need;
    struct arena_chunk *chunk = NULL;
    if (size <= SIZE_MAX - sizeof *chunk && sizeof *chunk + size <= room) chunk = malloc(sizeof *chunk + size);
    if (!chunk) {
        arena->failed = true;
        return false;
    }
    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    arena->used += sizeof *chunk + size;
    arena->next = chunk->data;
    arena->end = chunk->data + size;
    POISON(chunk->data, size);
    return true;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN) {
        arena->failed = true;
        return NULL;
    }
    size_t take = (size + (size == 0) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!arena->chunks || (size_t)(arena->end - arena->next) < take)
        if (!grow(arena, take)) return NULL;
    void *object = arena->next;
    arena->next += take;
    UNPOISON(object, size + (size == 0));
    return object;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *object = arena_alloc(arena, size);
    if (object) memset(object, 0, size);
    return object;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        arena->failed = true;
        return NULL;
    }
    return arena_zalloc(arena, count * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;
    if (!copy) return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

/* Formats into a buffer on the stack first, because nearly all texts are short. Only longer texts are formatted twice.
 */
char *arena_printf(struct arena *arena, const char *format, ...)
{
    char small[SMALL_TEXT];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1);
    if (text && (size_t)n < sizeof small)
        memcpy(text, small, (size_t)n + 1);
    else if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}
