/* Tests keys that the database does not declare. They are written in words.yaml, or imported from a dbt project. */
#include "lib/schema/dbt.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the join that starts at the column, or NULL. */
static const struct schema_join *join_from(const struct school *s, const char *name)
{
    uint32_t id = school_column(s, name)->id;
    for (uint32_t i = 0; i < s->index->n_joins; i++)
        if (s->index->joins[i].from[0] == id) return &s->index->joins[i];
    return NULL;
}

Test(keys, stated_keys_count_as_declared)
{
    struct school s;
    school_open(&s, NULL, &(struct schema_options){.descriptions_dir = TEST_DATA "/schema/keys"});
    const struct schema_join *visit = join_from(&s, "visit.head_teacher_id");
    cr_assert(visit && visit->declared && visit->to_unique && visit->n_pairs == 1);
    cr_expect_eq(visit->to[0], school_column(&s, "teacher.teacher_id")->id);
    cr_expect_eq(visit->inclusion, 1, "it is measured, and not assumed");
    cr_expect(schema_is_foreign_key(s.index, school_column(&s, "visit.head_teacher_id")->id));
    const struct schema_join *room = join_from(&s, "visit.room");
    cr_assert(room && room->declared && room->to_unique && room->n_pairs == 2);
    cr_expect_eq(room->to[1], school_column(&s, "room.number")->id);
    const struct schema_column *number = school_column(&s, "visit.visit_no");
    cr_expect(number->unique && !number->unique_measured);
    unsigned teachers = 0;
    for (uint32_t i = 0; i < s.index->n_joins; i++)
        teachers += s.index->joins[i].from[0] == school_column(&s, "course.Teacher")->id;
    cr_expect_eq(teachers, 1, "the database declares it already");
    school_end(&s);
}

Test(keys, unusable_keys_are_noted_with_their_line)
{
    static const char *const NOTES[] = {
        "words.yaml:7: the column holds a value twice",     "words.yaml:8: there is no such column",
        "words.yaml:9: the columns of a key belong to one", "words.yaml:10: both sides of a key have the same number",
        "words.yaml:11: a column does not refer to itself", "words.yaml:12: expected a text",
    };
    struct school s;
    school_open(&s, NULL, &(struct schema_options){.descriptions_dir = TEST_DATA "/schema/keys"});
    for (size_t i = 0; i < G_N_ELEMENTS(NOTES); i++) cr_expect(school_is_noted(s.index, NOTES[i]), "%s", NOTES[i]);
    cr_expect_not(school_column(&s, "visit.room")->unique);
    cr_expect_not(school_column(&s, "visit.course")->unique);
    school_end(&s);
}

static char *imported(const char *path, unsigned *n, enum err_code *code, struct err *err)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    *code = schema_dbt_keys(path, out, n, err);
    fclose(out);
    return text;
}

Test(keys, dbt_tests_and_constraints_are_imported)
{
    unsigned n;
    enum err_code code;
    struct err err = {0};
    char *text = imported(TEST_DATA "/schema/keys/manifest.json", &n, &code, &err);
    cr_assert_eq(code, ERR_OK, "%s", err.text);
    cr_expect_str_eq(text, "keys:\n"
                           "  - \"customers.id\"\n"
                           "  - \"customers.invited_by -> customers.id\"\n"
                           "  - \"mart.days.year, mart.days.day\"\n"
                           "  - \"orders.customer_id -> customers.Id\"\n"
                           "  - \"orders.id\"\n"
                           "  - \"orders.number, orders.year\"\n"
                           "  - \"orders.store_id -> stores.id\"\n");
    cr_expect_eq(n, 7);
    free(text);
}

Test(keys, other_files_are_refused)
{
    static const struct {
        const char *contents;
        enum err_code code;
        const char *says;
    } FILES[] = {
        {"{\"nodes\": {}}", ERR_OK, ""},
        {"{\"nodes\": []}", ERR_MALFORMED, "manifest.json of a dbt project"},
        {"[]", ERR_MALFORMED, "manifest.json of a dbt project"},
        {"{\"nodes\": {", ERR_MALFORMED, ":1: "},
        {"", ERR_MALFORMED, ":1: "},
    };
    char *dir = g_dir_make_tmp("dbt-XXXXXX", NULL), *path = g_build_filename(dir, "m.json", NULL);
    struct err err = {0};
    unsigned n;
    enum err_code code;
    for (size_t i = 0; i < G_N_ELEMENTS(FILES); i++) {
        cr_assert(g_file_set_contents(path, FILES[i].contents, -1, NULL));
        char *text = imported(path, &n, &code, &err);
        cr_expect_eq(code, FILES[i].code, "%s", FILES[i].contents);
        cr_expect(!code || strstr(err.text, FILES[i].says), "%s: %s", FILES[i].contents, err.text);
        cr_expect(n == 0 && text[0] == '\0');
        free(text);
    }
    g_unlink(path);
    char *text = imported(path, &n, &code, &err);
    cr_expect_eq(code, ERR_IO);
    free(text);
    g_rmdir(dir);
    g_free(path);
    g_free(dir);
}
