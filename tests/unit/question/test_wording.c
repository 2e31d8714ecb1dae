/* Tests the learned score of a question's words together with the parts of a meaning. */
#include "lib/question/wording.h"
#include "lib/schema/schema.h"
#include "lib/sql/sql.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "w",
                    "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, amount INTEGER, placed_on TEXT)");
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "w", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(wording, .init = setup, .fini = teardown);

static const struct meaning *read_sql(const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct meaning *meaning = NULL;
    cr_assert_eq(sql_parse(&fixture.arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_bind(&fixture.arena, stmt, &schema->catalog, &bound), ERR_OK, "%s", sql);
    cr_assert_eq(meaning_read(&fixture.arena, bound, &meaning), ERR_OK);
    return meaning;
}

/* A model in which all words of a text are common. */
struct plain_model {
    uint32_t common[64];
    int8_t weights[1 << 16];
    struct wording_model model;
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct plain_model *plain_model(const char *words)
{
    static struct plain_model plain;
    const uint32_t *hashes;
    plain = (struct plain_model){.model = {.bits = 16, .scale = 1}};
    uint32_t n = wording_words(wording_read(&fixture.arena, words, NULL), &hashes);
    cr_assert_leq(n, G_N_ELEMENTS(plain.common));
    memcpy(plain.common, hashes, n * sizeof *hashes);
    qsort(plain.common, n, sizeof *plain.common, by_value);
    plain.model.common = plain.common;
    plain.model.n_common = n;
    plain.model.weights = plain.weights;
    return &plain;
}

static uint32_t keys_of(const char *question, const char *evidence, const struct plain_model *plain, const char *sql,
                        const uint64_t **keys)
{
    struct wording_words *wording = wording_read(&fixture.arena, question, evidence);
    cr_assert_not_null(wording);
    wording_use(wording, &plain->model);
    return wording_keys(&fixture.arena, wording, read_sql(sql), keys);
}

static bool same_keys(const char *a, const char *sql_a, const char *b, const char *sql_b)
{
    const struct plain_model *plain = plain_model("how many orders per state were over");
    const uint64_t *x, *y;
    uint32_t n = keys_of(a, NULL, plain, sql_a, &x), m = keys_of(b, NULL, plain, sql_b, &y);
    cr_assert_gt(n, 0);
    return n == m && memcmp(x, y, n * sizeof *x) == 0;
}

Test(wording, forms_of_one_meaning_have_the_same_keys)
{
    cr_expect(same_keys("how many orders per state", "SELECT state, COUNT(*) FROM orders GROUP BY state",
                        "how many orders per state",
                        "WITH o AS (SELECT * FROM orders) SELECT o.state, COUNT(1) FROM o GROUP BY 1"));
    cr_expect_not(same_keys("how many orders per state", "SELECT state, COUNT(*) FROM orders GROUP BY state",
                            "how many orders per state", "SELECT state, SUM(amount) FROM orders GROUP BY state"));
}

Test(wording, names_count_as_named_or_not)
{
    static const char per_state[] = "SELECT state, COUNT(*) FROM orders GROUP BY state";
    cr_expect(same_keys("how many orders per state", per_state, "how many orders per STATE?", per_state));
    cr_expect_not(same_keys("how many orders per state", per_state, "how many orders per day", per_state));
    cr_expect(same_keys("how many were over three", "SELECT COUNT(*) FROM orders WHERE amount > 3",
                        "how many were over 3", "SELECT COUNT(*) FROM orders WHERE amount > 3"));
    const struct plain_model *plain = plain_model("how many were over");
    const uint64_t *keys;
    uint32_t spelled = keys_of("how many were over three", NULL, plain, "SELECT COUNT(*) FROM orders WHERE amount > 3",
                               &keys),
             absent =
                 keys_of("how many were over four", NULL, plain, "SELECT COUNT(*) FROM orders WHERE amount > 3", &keys);
    cr_expect_gt(spelled, absent, "a number word names the number, so that the words beside it count");
}

Test(wording, evidence_is_read_too)
{
    static const char sql[] = "SELECT COUNT(*) FROM orders WHERE state = 'paid'";
    const struct plain_model *plain = plain_model("how many sold means state is paid");
    const uint64_t *keys;
    uint32_t without = keys_of("how many were sold", NULL, plain, sql, &keys);
    cr_expect_gt(keys_of("how many were sold", "sold means state is paid", plain, sql, &keys), without);
}

/* A weight counts if its key occurs in the pair, and only then. */
Test(wording, the_score_is_the_sum_of_the_weights)
{
    static const char question[] = "how many orders were over 10",
                      more[] = "SELECT COUNT(*) FROM orders WHERE amount > 10",
                      fewer[] = "SELECT COUNT(*) FROM orders WHERE amount < 10";
    struct plain_model *plain = plain_model("how many were over");
    struct wording_words *wording = wording_read(&fixture.arena, question, NULL);
    const uint64_t *right, *wrong;
    uint32_t n = keys_of(question, NULL, plain, more, &right), m = keys_of(question, NULL, plain, fewer, &wrong);
    for (uint32_t i = 0; i < n; i++) plain->weights[wording_place(&plain->model, right[i])] += 1;
    for (uint32_t i = 0; i < m; i++) plain->weights[wording_place(&plain->model, wrong[i])] -= 1;
    wording_use(wording, &plain->model);
    struct wording_score good = wording_score(&fixture.arena, wording, read_sql(more)),
                         bad = wording_score(&fixture.arena, wording, read_sql(fewer));
    cr_expect(good.sum > 0 && bad.sum < 0, "%f %f", (double)good.sum, (double)bad.sum);
    cr_expect(good.mean > 0 && good.mean < good.sum, "%f", (double)good.mean);
    cr_expect(bad.least < 0 && good.least >= 0, "%f %f", (double)bad.least, (double)good.least);
}

Test(wording, without_a_model_nothing_is_known)
{
    struct wording_words *wording = wording_read(&fixture.arena, "how many", NULL);
    wording_use(wording, NULL);
    cr_expect(isnan(wording_score(&fixture.arena, wording, read_sql("SELECT COUNT(*) FROM orders")).sum));
    cr_expect_not_null(wording_bundled(), "models/wording.bin is of this version");
    wording_use(wording, wording_bundled());
    cr_expect(isnan(wording_score(&fixture.arena, wording, NULL).sum), "no query, no meaning");
}

/* The work for long questions and long queries must be bounded. */
Test(wording, is_bounded)
{
    GString *question = g_string_new(NULL), *sql = g_string_new("SELECT COUNT(*) FROM orders WHERE id = 0");
    for (int i = 0; i < 5000; i++) g_string_append_printf(question, "word%d 7 '%%' state ", i);
    for (int i = 0; i < 20; i++) g_string_append_printf(sql, " OR (amount = %d AND state = 'it''s %d')", i, i);
    g_string_append(sql, " OR amount IN (0");
    for (int i = 1; i < 3000; i++) g_string_append_printf(sql, ", %d", i);
    g_string_append(sql, ")");
    struct wording_words *wording = wording_read(&fixture.arena, question->str, question->str);
    const uint32_t *words;
    cr_assert_not_null(wording);
    cr_expect_leq(wording_words(wording, &words), 256);
    struct wording_score score = wording_score(&fixture.arena, wording, read_sql(sql->str));
    cr_expect_not(isnan(score.sum));
    g_string_free(question, TRUE);
    g_string_free(sql, TRUE);
}

Test(wording, a_changed_file_is_refused)
{
    struct plain_model *plain = plain_model("how many");
    struct wording_model loaded;
    struct err err = {0};
    char *data, *dir = g_dir_make_tmp("wording-XXXXXX", NULL), *path = g_build_filename(dir, "w.bin", NULL);
    size_t size;
    plain->weights[17] = -5;
    plain->model.scale = 0.25F;
    cr_assert_eq(wording_save(path, &plain->model, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(wording_load(path, &loaded, &err), ERR_OK, "%s", err.text);
    cr_expect(loaded.bits == 16 && loaded.n_common == plain->model.n_common && loaded.weights[17] == -5);
    cr_expect_float_eq(loaded.scale, 0.25F, 1e-9F);
    cr_expect_arr_eq(loaded.common, plain->common, loaded.n_common * sizeof *plain->common);
    wording_free(&loaded);
    cr_assert(g_file_get_contents(path, &data, &size, NULL));
    const size_t at[] = {0, 8, 12, 16, size - 1}; /* magic, version, size, common words, a weight */
    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
        data[at[i]] ^= 0x40;
        cr_assert(g_file_set_contents(path, data, (gssize)size, NULL));
        cr_expect_eq(wording_load(path, &loaded, &err), ERR_CONFIG, "byte %zu", at[i]);
        data[at[i]] ^= 0x40;
    }
    cr_assert(g_file_set_contents(path, data, (gssize)size - 1, NULL));
    cr_expect_eq(wording_load(path, &loaded, &err), ERR_CONFIG, "cut off");
    g_unlink(path);
    cr_expect_eq(wording_load(path, &loaded, &err), ERR_CONFIG, "not there");
    g_rmdir(dir);
    g_free(dir);
    g_free(path);
    g_free(data);
}
