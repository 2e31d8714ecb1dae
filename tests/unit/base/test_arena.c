#include "lib/base/arena.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(arena, objects_are_aligned_and_distinct)
{
    struct arena arena;
    arena_init(&arena, 0);
    char *a = arena_alloc(&arena, 1), *b = arena_alloc(&arena, 24);
    cr_assert((uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0);
    cr_assert(b >= a + 16);
    arena_free(&arena);
    leak_check();
}

Test(arena, allocation_past_cap_returns_null_from_then_on)
{
    struct arena arena;
    arena_init(&arena, 100000);
    cr_assert_null(arena_alloc(&arena, 200000));
    cr_assert(arena.failed);
    cr_assert_not_null(arena_alloc(&arena, 1000), "a small object still fits after a large one did not");
    size_t total = 1000;
    while (arena_alloc(&arena, 1000)) total += 1000;
    cr_assert_leq(arena.used, 100000);
    cr_assert_geq(total, 60000, "most of the cap is usable, got %zu", total);
    arena_free(&arena);
    leak_check();
}

Test(arena, formatted_text_is_whole_across_chunks)
{
    struct arena arena;
    char wanted[301];
    arena_init(&arena, 0);
    for (int n = 0; n < 300; n++) { /* the first chunk is used up during these */
        memset(wanted, 'x', (size_t)n);
        wanted[n] = '\0';
        cr_expect_str_eq(arena_printf(&arena, "%s", wanted), wanted);
        char *next = arena_alloc(&arena, 1);
        cr_assert(next);
        *next = 'y';
    }
    arena_free(&arena);
    leak_check();
}

Test(arena, overflowing_arrays_are_refused)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_null(arena_array(&arena, SIZE_MAX / 2, 4));
    cr_assert_null(arena_alloc(&arena, SIZE_MAX - 3));
    arena_free(&arena);
}

Test(arena, reset_keeps_largest_chunk)
{
    struct arena arena;
    arena_init(&arena, 64 * 1024);
    cr_assert(arena_alloc(&arena, 16 * 1024));
    cr_assert(arena_alloc(&arena, 32 * 1024));
    cr_assert(arena_alloc(&arena, 1000)); /* fits exactly, so the limit is reached */
    arena_reset(&arena);
    cr_expect(arena.used > 32 * 1024, "%zu", arena.used);
    arena_free(&arena);
    leak_check();
}

Test(arena, reset_keeps_one_chunk)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (int i = 0; i < 1000; i++) cr_assert_not_null(arena_alloc(&arena, 1000));
    arena_reset(&arena);
    size_t kept = arena.used;
    cr_assert(kept > 64 * 1024 && kept < 192 * 1024);
    char *text = arena_printf(&arena, "%s-%d", "x", 7);
    cr_assert_str_eq(text, "x-7");
    cr_assert_eq(arena.used, kept);
    arena_free(&arena);
    leak_check();
}
