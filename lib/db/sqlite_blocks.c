/* Per-thread free lists of blocks (sqlite_blocks.h). A block begins with its size. In a free list the pointer to the
 * next block follows; in use, the bytes for SQLite follow. Blocks in a list are poisoned for AddressSanitizer. The
 * destructor of a thread-specific key frees the lists when the thread ends. */
#include "lib/db/sqlite_blocks.h"

#include "lib/base/poison.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 8,              /* bytes of a block before the address that SQLite receives */
    STEP = 16,             /* block sizes are multiples of STEP */
    KINDS = 512,           /* number of cached sizes; the largest, 8 KiB, is enough for a database page */
    KEPT_BYTES = 256 << 10 /* maximum cached bytes of a thread */
};

struct block {
    uint64_t bytes;     /* size of the whole block */
    struct block *next; /* next block of the free list; in use, the first bytes for SQLite */
};

static_assert(offsetof(struct block, next) == HEAD, "SQLite gets what is behind the head");

struct kept {
    struct block *lists[KINDS]; /* free lists by block size */
    size_t bytes;
    bool known, closed; /* the lists will be freed when the thread ends; they have been freed */
};

static _Thread_local struct kept kept;
static pthread_key_t at_end;
static bool has_key; /* false if the process has no free key, because their number is limited */

static void free_kept(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < KINDS; i++)
        for (struct block *block = kept.lists[i], *next; block; block = next) {
            next = block->next;
            UNPOISON(block, block->bytes);
            free(block);
        }
    kept = (struct kept){.closed = true};
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_end, free_kept) == 0;
}

static void know_thread(void)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, make_key);
    kept.known = has_key && pthread_setspecific(at_end, &kept) == 0;
}

static struct block *block_of(const void *p)
{
    return (struct block *)((uintptr_t)p - HEAD);
}

/* Returns the size of a whole block that has `size` usable bytes. */
static size_t bytes_for(int size)
{
    return ((size_t)size + HEAD + STEP - 1) / STEP * STEP;
}

static struct block **list_of(size_t bytes)
{
    return bytes <= KINDS * STEP ? &kept.lists[bytes / STEP - 1] : NULL;
}

static void *hand_out(struct block *block, size_t bytes)
{
    if (!block) return NULL;
    block->bytes = bytes;
    return (char *)block + HEAD;
}

void *block_take(int size)
{
    size_t bytes = bytes_for(size);
    struct block **list = list_of(bytes), *block = list ? *list : NULL;
    if (!block) return hand_out(malloc(bytes), bytes);
    UNPOISON(block, bytes);
    *list = block->next;
    kept.bytes -= bytes;
    return hand_out(block, bytes);
}

static bool may_keep(size_t bytes)
{
    if (kept.closed || kept.bytes + bytes > KEPT_BYTES) return false;
    if (!kept.known) know_thread();
    return kept.known;
}

void block_give(void *p)
{
    if (!p) return;
    struct block *block = block_of(p), **list = list_of(block->bytes);
    if (!list || !may_keep(block->bytes)) {
        free(block);
        return;
    }
    block->next = *list;
    *list = block;
    kept.bytes += block->bytes;
    POISON(block + 1, block->bytes - sizeof *block);
}

void *block_resize(void *p, int size)
{
    struct block *block = block_of(p);
    size_t bytes = bytes_for(size);
    if (bytes == block->bytes) return p;
    if (!list_of(bytes) && !list_of(block->bytes)) return hand_out(realloc(block, bytes), bytes);
    void *moved = block_take(size);
    if (!moved) return NULL;
    memcpy(moved, p, (bytes < block->bytes ? bytes : block->bytes) - HEAD);
    block_give(p);
    return moved;
}

int block_size(const void *p)
{
    return (int)(block_of(p)->bytes - HEAD);
}

int block_size_for(int size)
{
    return (int)(bytes_for(size) - HEAD);
}
