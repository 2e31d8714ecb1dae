/* Tests the guarantee in a verdict: given, impossible, or withdrawn. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

static struct script s;

static void done(void)
{
    script_close(&s);
    leak_check();
}
TestSuite(promise, .fini = done);

/* Returns the calibration of a generator, from 60 correct answers whose P(correct) lies between `low` and `high`. */
static struct guarantee *calibration(double low, double high)
{
    static const struct guarantee_conditions none = {0};
    char path[] = "/tmp/assay-calibration-XXXXXX";
    struct guarantee *out = NULL;
    struct err err = {0};
    GString *text =
        g_string_new("{\"format\":\"assay.calibration\",\"version\":1,\"strategy\":\"rerank\",\"repairs\":false,"
                     "\"models\":{\"label_model\":\"\",\"classifier\":\"\",\"verifier\":\"\"},"
                     "\"groups\":{\"known\":[");
    for (int i = 0; i < 60; i++)
        g_string_append_printf(text, "%s[%.6f,1,0]", i ? "," : "", low + (high - low) * i / 60);
    g_string_append(text, "]}}");
    close(g_mkstemp(path));
    cr_assert(g_file_set_contents(path, text->str, -1, NULL));
    cr_assert_eq(guarantee_load(path, &none, &out, &err), ERR_OK, "%s", err.text);
    unlink(path);
    g_string_free(text, TRUE);
    return out;
}

static void open_with(double low, double high, struct msg_options defaults)
{
    struct scoring_models *models = script_models();
    models->guarantee = calibration(low, high);
    defaults.strategy = MSG_RERANK;
    defaults.alpha = 0.05;
    script_open_models(&s, models, defaults, false);
}

static json_t *judge(int number, const char *generator, const char *sql)
{
    char *line = g_strdup_printf(
        "{\"db\":\"d\",\"question\":\"q %d\",\"candidates\":[{\"sql\":\"%s\",\"generators\":[\"%s\"]}]}", number, sql,
        generator);
    script_ask_json(&s, (struct msg_key){0, number}, line, 0);
    script_answer_all(&s, 0, 0);
    g_free(line);
    return json_loads(g_ptr_array_index(s.verdicts, s.verdicts->len - 1), 0, NULL);
}

static const char *promise_of(const json_t *verdict)
{
    const json_t *guarantee = json_object_get(verdict, "guarantee");
    const char *status = json_string_value(json_object_get(guarantee, "status"));
    return status ? status : "none";
}

static const char *status_of(const json_t *verdict)
{
    return json_string_value(json_object_get(verdict, "status"));
}

Test(promise, threshold_comes_from_calibration)
{
    open_with(0.0001, 0.0002, (struct msg_options){.policy = MSG_ABSTAIN});
    json_t *v = judge(0, "known", "SELECT rows_1");
    const json_t *guarantee = json_object_get(v, "guarantee");
    cr_expect_str_eq(promise_of(v), "held");
    cr_expect_str_eq(status_of(v), "validated", "whatever its P, it is above what is asked");
    cr_expect_lt(json_number_value(json_object_get(v, "threshold")), 0.001);
    cr_expect_str_eq(json_string_value(json_object_get(guarantee, "group")), "known");
    cr_expect_eq(json_integer_value(json_object_get(guarantee, "records")), 60);
    cr_expect_float_eq(json_number_value(json_object_get(guarantee, "delta")), 0.1, 0);
    json_decref(v);
}

Test(promise, impossible_guarantee_falls_back_to_policy)
{
    open_with(0.0001, 0.0002, (struct msg_options){.policy = MSG_ABSTAIN});
    json_t *v = judge(0, "unknown", "SELECT rows_1");
    cr_expect_str_eq(promise_of(v), "too_few");
    cr_expect_str_eq(status_of(v), "abstained");
    json_decref(v);
    script_close(&s);
    open_with(0.0001, 0.0002, (struct msg_options){.policy = MSG_BEST_EFFORT});
    v = judge(0, "unknown", "SELECT rows_1");
    cr_expect_str_eq(promise_of(v), "too_few");
    cr_expect_float_eq(json_number_value(json_object_get(v, "threshold")), 0.95, 1e-9, "as without a calibration");
    cr_expect(json_is_string(json_object_get(v, "sql")));
    json_decref(v);
}

Test(promise, guarantee_is_withdrawn_on_drift)
{
    open_with(0.0001, 0.0002, (struct msg_options){.policy = MSG_ABSTAIN});
    unsigned held = 0;
    for (int i = 0; i < 200; i++) { /* each P(correct) is higher than that of any record */
        json_t *v = judge(i, "known", "SELECT rows_1");
        bool is_held = strcmp(promise_of(v), "held") == 0;
        cr_expect_str_eq(status_of(v), is_held ? "validated" : "abstained");
        if (!is_held) cr_expect_str_eq(promise_of(v), "withdrawn");
        if (is_held) cr_expect_eq(held, (unsigned)i, "once withdrawn it stays so");
        held += is_held;
        json_decref(v);
    }
    cr_expect(held > 3 && held < 60, "withdrawn after %u", held);
    cr_expect_eq(core_get_stats(s.core).promises_withdrawn, 1);
}

Test(promise, custom_threshold_has_no_guarantee)
{
    open_with(0.0001, 0.0002, (struct msg_options){.threshold = 0.3});
    json_t *v = judge(0, "known", "SELECT rows_1");
    cr_expect_str_eq(promise_of(v), "none");
    cr_expect_float_eq(json_number_value(json_object_get(v, "threshold")), 0.3, 0);
    json_decref(v);
}
