#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

void school_open(struct school *school, const char *sql, const struct schema_options *options)
{
    size_t len;
    char *text = sql ? NULL : fixture_bytes(TEST_DATA "/schema/school.sql", &len);
    cr_assert(sql || text);
    fixture_init(&school->f, sql ? sql : text);
    g_free(text);
    fixture_open(&school->f, NULL);
    struct err err = {0};
    enum err_code code = schema_build(school->f.db, "school", school->f.path, options, &school->index, &err);
    cr_assert_eq(code, ERR_OK, "%s", err.text);
}

void school_end(struct school *school)
{
    schema_unref(school->index);
    fixture_end(&school->f);
}

const struct schema_column *school_column(const struct school *school, const char *name)
{
    const char *dot = strrchr(name, '.');
    int table = schema_find_table(school->index, name, (size_t)(dot - name));
    cr_assert_geq(table, 0, "%s", name);
    int column = schema_find_column(school->index, table, dot + 1, strlen(dot + 1));
    cr_assert_geq(column, 0, "%s", name);
    return &school->index->tables[table].columns[column];
}

uint32_t school_table(const struct school *school, const char *name)
{
    int table = schema_find_table(school->index, name, strlen(name));
    cr_assert_geq(table, 0, "%s", name);
    return (uint32_t)table;
}

const struct schema_join *school_join(const struct school *school, const char *from, const char *to)
{
    bool derived;
    const struct schema_join *join =
        schema_join_between(school->index, school_column(school, from)->id, school_column(school, to)->id, &derived);
    return derived ? NULL : join;
}

bool school_is_noted(const struct schema_index *index, const char *text)
{
    for (uint32_t i = 0; i < index->n_notes; i++)
        if (strstr(index->notes[i], text)) return true;
    return false;
}
