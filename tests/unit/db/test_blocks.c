#include "lib/db/sqlite_blocks.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

TestSuite(blocks, .fini = leak_check);

Test(blocks, blocks_hold_requested_bytes)
{
    for (int size = 1; size < 20000; size += 7) {
        char *block = block_take(size);
        cr_assert(block && (uintptr_t)block % 8 == 0);
        cr_assert_geq(block_size(block), size);
        cr_assert_eq(block_size(block), block_size_for(size));
        memset(block, 'x', (size_t)block_size(block));
        block_give(block);
    }
    block_give(NULL);
}

Test(blocks, freed_blocks_are_reused)
{
    char *small = block_take(40), *page = block_take(4400);
    block_give(small);
    block_give(page);
    cr_expect_eq(block_take(37), small, "of the same size, rounded");
    cr_expect_eq(block_take(4400), page);
    char *other = block_take(40);
    cr_expect_neq(other, small, "it is taken");
    block_give(other);
    block_give(small);
    block_give(page);
}

Test(blocks, resized_blocks_keep_their_bytes)
{
    static const int SIZES[] = {1, 30, 31, 500, 8100, 9000, 100000, 9500, 700, 20};
    char *block = block_take(1);
    *block = 'a';
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        block = block_resize(block, SIZES[i]);
        cr_assert(block);
        cr_assert_geq(block_size(block), SIZES[i]);
        cr_expect_eq(*block, 'a');
        memset(block, 'a', (size_t)SIZES[i]);
    }
    block_give(block);
}

static void *give_all(void *blocks)
{
    for (int i = 0; i < 1000; i++) block_give(((void **)blocks)[i]);
    return NULL;
}

/* The thread frees more blocks than it caches. The end of the thread must free the cached blocks, or leak_check reports
 * them. */
Test(blocks, another_thread_may_free_blocks)
{
    static void *blocks[1000];
    pthread_t thread;
    for (int i = 0; i < 1000; i++) cr_assert(blocks[i] = block_take(1000));
    cr_assert_eq(pthread_create(&thread, NULL, give_all, blocks), 0);
    pthread_join(thread, NULL);
}

/* A process has a limited number of keys for destructors of thread data. Without a key no block is cached. Key 0
 * belongs to other code and must keep its value. */
Test(blocks, blocks_without_key_are_not_cached)
{
    static pthread_key_t taken[PTHREAD_KEYS_MAX];
    uint32_t n = 0;
    void *first = pthread_getspecific(0);
    while (n < PTHREAD_KEYS_MAX && pthread_key_create(&taken[n], NULL) == 0) n++;
    block_give(block_take(40));
    while (n > 0) pthread_key_delete(taken[--n]);
    cr_expect_eq(pthread_getspecific(0), first);
}
