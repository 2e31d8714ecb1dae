/* Compares the keys of written and accepted JSON with the field tables. */
#include "proto/message/json_schema.h"
#include "proto/message/msg.h"
#include "tests/unit/proto/samples.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void check_object(const json_t *json, const char *name);

static const struct json_schema_field *find_field(const struct json_schema_object *object, const char *name)
{
    for (const struct json_schema_field *field = object->fields; field->name; field++)
        if (strcmp(field->name, name) == 0) return field;
    return NULL;
}

static bool is_choice(const struct json_schema_field *field, const char *text)
{
    const char *choice;
    for (unsigned i = 0; field->choice && (choice = field->choice(i)); i++)
        if (strcmp(choice, text) == 0) return true;
    return !field->choice;
}

static void check_value(const json_t *json, const struct json_schema_field *field, const char *where)
{
    const char *key;
    json_t *item;
    if (json_is_null(json)) {
        cr_expect(field->nullable || field->kind == JSON_SCHEMA_ANY, "%s: null", where);
        return;
    }
    switch (field->kind) {
    case JSON_SCHEMA_STRING:
        cr_expect(json_is_string(json) && is_choice(field, json_string_value(json)), "%s: no such string", where);
        break;
    case JSON_SCHEMA_WHOLE: cr_expect(json_is_integer(json), "%s: no whole number", where); break;
    case JSON_SCHEMA_REAL: cr_expect(json_is_number(json), "%s: no number", where); break;
    case JSON_SCHEMA_BOOL: cr_expect(json_is_boolean(json), "%s: neither true nor false", where); break;
    case JSON_SCHEMA_OBJECT: check_object(json, field->of); break;
    case JSON_SCHEMA_CANDIDATE:
        if (!json_is_string(json)) check_object(json, field->of);
        break;
    case JSON_SCHEMA_MAP:
        cr_expect(json_is_object(json), "%s: no object", where);
        json_object_foreach((json_t *)json, key, item) cr_expect(
            field->of || json_is_null(item) || (json_is_string(item) && is_choice(field, json_string_value(item))),
            "%s.%s", where, key);
        break;
    case JSON_SCHEMA_EXPLAIN:
    case JSON_SCHEMA_ANY: break;
    }
}

static void check_field(const json_t *json, const struct json_schema_field *field, const char *where)
{
    size_t i;
    json_t *item;
    if (!field->list || json_is_null(json)) {
        check_value(json, field, where);
        return;
    }
    cr_expect(json_is_array(json), "%s: no list", where);
    json_array_foreach((json_t *)json, i, item) check_value(item, field, where);
}

static void check_object(const json_t *json, const char *name)
{
    const char *key;
    json_t *value;
    const struct json_schema_object *object = json_schema_find(name);
    cr_assert_not_null(object, "no object %s", name);
    cr_assert(json_is_object(json), "%s is no object", name);
    json_object_foreach((json_t *)json, key, value)
    {
        char *where = g_strconcat(name, ".", key, NULL);
        const struct json_schema_field *field = find_field(object, key);
        cr_expect_not_null(field, "%s is written, and in no table", where);
        if (field) check_field(value, field, where);
        g_free(where);
    }
    for (const struct json_schema_field *field = object->fields; field->name; field++)
        cr_expect(!field->required || json_object_get(json, field->name), "%s.%s is required, and not written", name,
                  field->name);
}

static void expect_text(char *text, const char *object)
{
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    check_object(json, object);
    json_decref(json);
    free(text);
}

Test(json_schema, full_verdict_matches_tables)
{
    expect_text(msg_verdict_to_json(&sample_verdict), "verdict");
}

Test(json_schema, empty_verdict_matches_tables)
{
    const struct msg_verdict verdict = {
        .id = "q", .status = MSG_STATUS_FAILED, .p_correct = NAN, .threshold = NAN, .entailment_threshold = NAN};
    expect_text(msg_verdict_to_json(&verdict), "verdict");
}

Test(json_schema, full_request_matches_tables)
{
    expect_text(msg_request_to_json(&sample_request), "request");
}

Test(json_schema, names_are_known_and_fields_described)
{
    for (const struct json_schema_object *object = json_schema_objects; object->name; object++)
        for (const struct json_schema_field *field = object->fields; field->name; field++) {
            cr_expect(field->sentence && *field->sentence, "%s.%s", object->name, field->name);
            bool refers = field->kind == JSON_SCHEMA_OBJECT || field->kind == JSON_SCHEMA_CANDIDATE;
            cr_expect(!refers || json_schema_find(field->of), "%s.%s refers to no object", object->name, field->name);
            char *text = json_schema_kind_text(field);
            cr_expect(*text);
            g_free(text);
        }
}
