/* Tests calibrations: the required contents of a file, and the guarantees that it gives. */
#include "scoring/guarantee.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const struct guarantee_conditions own = {.label_model = "L 1", .verifier = "V 1"};
static struct guarantee *guarantee;

static void end(void)
{
    guarantee_free(guarantee);
    leak_check();
}
TestSuite(guarantee, .fini = end);

static enum err_code load(const char *text, struct err *err)
{
    char path[] = "/tmp/assay-calibration-XXXXXX";
    int file = g_mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert(g_file_set_contents(path, text, -1, NULL));
    enum err_code code = guarantee_load(path, &own, &guarantee, err);
    unlink(path);
    close(file);
    return code;
}

#define FILE_OF(models, groups)                                                                                        \
    "{\"format\":\"assay.calibration\",\"version\":2,\"strategy\":\"rerank\",\"repairs\":false,\"models\":" models     \
    ",\"groups\":" groups "}"
#define ALIKE  ",0,0,0,0,0,0,0,0" /* values of the traits */
#define MODELS "{\"label_model\":\"L 1\",\"classifier\":\"\",\"verifier\":\"V 1\"}"

Test(guarantee, mismatched_file_is_refused_with_hint)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "line 1"},
        {"{\"format\":\"assay.verifier\",\"version\":1}", "assay.calibration"},
        {"{\"format\":\"assay.calibration\",\"version\":3}", "version"},
        {FILE_OF("{\"label_model\":\"L 1\",\"classifier\":\"\",\"verifier\":\"V 2\"}", "{}"), "assay calibrate again"},
        {FILE_OF("{}", "{}"), "another label_model"},
        {FILE_OF(MODELS, "{}"), "no records"},
        {FILE_OF(MODELS, "{\"g\":[[1.5,1,0" ALIKE "]]}"), "group 'g'"},
        {FILE_OF(MODELS, "{\"g\":[[0.5,2,0" ALIKE "]]}"), "group 'g'"},
        {FILE_OF(MODELS, "{\"g\":[[0.5,1,-1" ALIKE "]]}"), "group 'g'"},
        {FILE_OF(MODELS, "{\"g\":[[0.5,1]]}"), "group 'g'"},
        {FILE_OF(MODELS, "{\"g\":[[0.5,1,0,0,0,0,0,0,0,0,1e9]]}"), "group 'g'"},
        {FILE_OF(MODELS, "{\"g\":7}"), "group 'g'"},
        {"{\"format\":\"assay.calibration\",\"version\":2,\"strategy\":\"rerank\",\"repairs\":false,\"models\":" MODELS
         ",\"databases\":[7],\"groups\":{\"g\":[[0.5,1,0" ALIKE "]]}}",
         "has no name"},
        {"{\"format\":\"assay.calibration\",\"version\":2,\"strategy\":\"best\",\"repairs\":false}", "strategy"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct err err = {0};
        cr_expect_eq(load(rows[i].text, &err), ERR_CONFIG, "%s", rows[i].text);
        cr_expect(strstr(err.text, rows[i].says), "%s: %s", rows[i].text, err.text);
        cr_expect_null(guarantee);
    }
}

/* Appends a group of n records with the same P(correct). All are right except `wrong` of them. */
static void put_group(GString *text, const char *name, unsigned n, double p, unsigned wrong)
{
    g_string_append_printf(text, "%s\"%s\":[", text->str[text->len - 1] == '{' ? "" : ",", name);
    for (unsigned i = 0; i < n; i++)
        g_string_append_printf(text, "%s[%g,%d,0" ALIKE "]", i ? "," : "", p - i * 1e-6, i >= wrong);
    g_string_append_c(text, ']');
}

static void load_groups(void)
{
    struct err err = {0};
    GString *groups = g_string_new("{");
    put_group(groups, "good", 100, 0.9, 0);
    put_group(groups, "few", 3, 0.8, 0);
    put_group(groups, "bad", 60, 0.7, 60);
    put_group(groups, "*", 50, 0.95, 0);
    g_string_append_c(groups, '}');
    char *text =
        g_strdup_printf("{\"format\":\"assay.calibration\",\"version\":2,\"strategy\":\"rerank\",\"repairs\":false,"
                        "\"models\":%s,\"groups\":%s}",
                        MODELS, groups->str);
    cr_assert_eq(load(text, &err), ERR_OK, "%s", err.text);
    g_free(text);
    g_string_free(groups, TRUE);
}

static struct guarantee_found find(const char *generator)
{
    const struct guarantee_asked asked = {0.05, 0.1, generator, "shop", MSG_RERANK, false, ""};
    return guarantee_find(guarantee, &asked);
}

Test(guarantee, generator_has_own_or_pooled_guarantee)
{
    load_groups();
    struct guarantee_found good = find("good"), few = find("few"), several = find(NULL), bad = find("bad");
    cr_expect(good.promise.held && strcmp(good.name, "good") == 0 && good.promise.records == 100);
    cr_expect_null(good.why);
    cr_expect_lt(good.promise.threshold, 0.9);
    cr_expect_gt(good.promise.threshold, 0.89);
    cr_expect(few.promise.held && strcmp(few.name, GUARANTEE_ALL) == 0 && few.promise.records == 213);
    cr_expect_gt(few.promise.threshold, 0.7 + 1e-3, "not where the bad one's answers lie");
    cr_expect(several.promise.held && strcmp(several.name, "*") == 0);
    cr_expect_str_eq(bad.name, GUARANTEE_ALL, "its own promise nothing, and it is one of all");
}

/* Loads a calibration. Generator "g" is right on shop, often wrong on lake, and has few records of other databases. */
static void load_databases(void)
{
    GString *groups = g_string_new("{\"g\":[");
    struct err err = {0};
    for (int i = 0; i < 220; i++)
        g_string_append_printf(groups, "[%g,1,0" ALIKE "],[%g,%d,1" ALIKE "],", 0.9 + i * 1e-4, 0.9 + i * 1e-4,
                               i % 4 != 0);
    for (int i = 0; i < 60; i++) g_string_append_printf(groups, "%s[0.95,1,%d]", i ? "," : "", 2 + i % 3);
    char *text = g_strdup_printf(
        "{\"format\":\"assay.calibration\",\"version\":2,\"strategy\":\"rerank\",\"repairs\":false,\"models\":" MODELS
        ",\"databases\":[\"shop\",\"lake\",\"a\",\"b\",\"c\"],\"groups\":%s]}}",
        groups->str);
    cr_assert_eq(load(text, &err), ERR_OK, "%s", err.text);
    g_free(text);
    g_string_free(groups, TRUE);
}

static struct guarantee_found find_on(const char *db, double alpha)
{
    const struct guarantee_asked asked = {alpha, 0.1, "g", db, MSG_RERANK, false, ""};
    return guarantee_find(guarantee, &asked);
}

Test(guarantee, database_with_enough_records_has_own_threshold)
{
    load_databases();
    cr_assert_eq(guarantee_n_groups(guarantee), 4, "g, all, g on shop, g on lake");
    struct guarantee_found shop = find_on("shop", 0.05), lake = find_on("lake", 0.05), other = find_on("a", 0.1),
                           never = find_on("never seen", 0.1), none = find_on(NULL, 0.1);
    cr_expect(shop.promise.held && strcmp(shop.name, "g/shop") == 0 && shop.promise.records == 220);
    cr_expect(!lake.promise.held && strcmp(lake.name, "g/lake") == 0, "and is lent no promise of others");
    cr_expect_not_null(lake.why);
    cr_expect(other.promise.held && strcmp(other.name, "g") == 0 && other.promise.records == 60, "the rest of them");
    cr_expect(never.promise.held && never.group == other.group && none.group == other.group);
    struct risk_shift shift;
    for (uint32_t i = 0; i < guarantee_n_groups(guarantee); i++) guarantee_watch(guarantee, i, &shift);
}

Test(guarantee, dissimilar_request_has_no_guarantee)
{
    load_groups();
    struct guarantee_found unknown = find("never seen"), unnamed = find("");
    const struct guarantee_asked others[] = {{0.05, 0.1, "good", "shop", MSG_FIRST_VALID, false, ""},
                                             {0.05, 0.1, "good", "shop", MSG_RERANK, true, ""},
                                             {0.05, 0.1, "good", "shop", MSG_RERANK, false, "0:1, hit rate 0.7"}};
    cr_expect(!unknown.promise.held && unknown.group < 0 && strstr(unknown.why, "has no verdicts of the generator"));
    cr_expect_not(unnamed.promise.held);
    for (unsigned i = 0; i < 3; i++) {
        struct guarantee_found found = guarantee_find(guarantee, &others[i]);
        cr_expect(!found.promise.held && found.group < 0 && found.why);
        cr_expect_float_eq(found.promise.threshold, 1, 0);
    }
}
