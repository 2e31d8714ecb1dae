/* Indexes 200,000 rows with 20,000 distinct strings. bench/index.c does the same with 10 million rows and one million
 * strings. */
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>

Test(large, large_table_is_indexed)
{
    struct school s;
    school_open(&s,
                "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, amount REAL); INSERT INTO t WITH RECURSIVE c(x) AS "
                "(SELECT 0 UNION"
                " ALL SELECT x+1 FROM c LIMIT 200000) SELECT x, 'word number ' || (x % 20000), x * 0.5 FROM c;",
                NULL);
    const struct schema_column *word = school_column(&s, "t.word"), *id = school_column(&s, "t.id");
    cr_assert_eq(word->stats.rows, 200000);
    cr_assert(word->stats.distinct == 20000 && !word->stats.sampled);
    cr_assert(word->stats.top[0].count == 10 && word->stats.n_top == 16);
    cr_assert(id->stats.distinct == 200000 && !id->stats.sampled, "just at the cap");
    cr_assert_eq(school_column(&s, "t.amount")->stats.zeros, 1);
    cr_assert_eq(schema_column_has(s.index, word, "word number 19999", 17, true), 1);
    cr_assert_eq(schema_column_has(s.index, word, "word number 20000", 17, true), 0);
    const char *near[3];
    cr_assert_eq(schema_nearest_values(&s.f.arena, s.index, word, "wrod number 77", 14, near, 3), 3);
    cr_assert_str_eq(near[0], "word number 77");
    cr_assert_leq(s.index->bytes, 32 << 20, "%lu bytes", s.index->bytes);
    school_end(&s);
}
