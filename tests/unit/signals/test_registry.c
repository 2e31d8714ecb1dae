/* Tests the registry, options, findings and the final states of a run. */
#include "lib/base/clock.h"
#include "signals/vsig.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

Test(registry, every_signal_is_described)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    cr_assert(n > 0);
    for (unsigned i = 0; i < n; i++) {
        const struct vsig_def *def = all[i];
        cr_expect(vsig_by_id(def->id) == def && vsig_by_name(def->name) == def);
        cr_expect(i == 0 || all[i - 1]->id < def->id, "%s is out of order", def->name);
        cr_expect(vsig_family_by_name(vsig_family_name(def->family)) == (int)def->family);
        cr_expect(def->sentence && def->description && def->example && def->instruction && def->eval, "%s", def->name);
        for (const struct vsig_option *o = def->options; o && o->name; o++)
            cr_expect(o->min <= o->fallback && o->fallback <= o->max && o->sentence, "%s.%s", def->name, o->name);
    }
    cr_expect(!vsig_by_name("no_such_signal") && !vsig_by_id(VSIG_ID_END) && vsig_family_by_name("x") == -1);
}

Test(registry, names_and_families_agree_with_the_list)
{
    static const struct {
        enum vsig_id id;
        const char *name;
        enum vsig_family family;
    } LIST[] = {
#define X(number, label, kind) {VSIG_ID_##label, #label, VSIG_##kind},
#include "signals/vsig_list.h"
#undef X
    };
    for (size_t i = 0; i < sizeof LIST / sizeof LIST[0]; i++) {
        const struct vsig_def *def = vsig_by_id(LIST[i].id);
        cr_assert(def, "%s is not registered", LIST[i].name);
        cr_expect(strcmp(def->name, LIST[i].name) == 0);
        cr_expect(def->family == LIST[i].family);
    }
}

/* The folder of a family contains only signals. A file that no row names would not be compiled. */
Test(registry, every_file_has_a_row)
{
    for (int family = 0; family < VSIG_FAMILY_COUNT; family++) {
        char *path = g_build_filename(SOURCE_ROOT, "signals", vsig_family_name(family), NULL);
        GDir *folder = family == VSIG_EXPLAIN ? NULL : g_dir_open(path, 0, NULL);
        cr_assert(folder || family == VSIG_EXPLAIN, "%s", path);
        for (const char *name; folder && (name = g_dir_read_name(folder));) {
            char *signal = g_strndup(name, strcspn(name, "."));
            const struct vsig_def *def = vsig_by_name(signal);
            cr_expect(g_str_has_suffix(name, ".c") && def && (int)def->family == family, "%s/%s", path, name);
            g_free(signal);
        }
        if (folder) g_dir_close(folder);
        g_free(path);
    }
}

Test(options, defaults_and_settings_are_checked)
{
    struct vsig_options *options = vsig_options_new();
    struct err err = {0};
    enum vsig_id id = VSIG_ID_unnecessary_subquery;
    cr_expect(options->enabled[id] && options->values[id][0] == 3);
    cr_expect(vsig_options_set(options, "unnecessary_subquery", "max_subqueries", 5, &err) == ERR_OK);
    cr_expect(options->values[id][0] == 5);
    cr_expect(vsig_options_set(options, "unnecessary_subquery", "enabled", 0, &err) == ERR_OK && !options->enabled[id]);
    cr_expect(vsig_options_set(options, "unnecessary_subquery", "max_subqueries", -1, &err) == ERR_CONFIG);
    cr_expect(vsig_options_set(options, "unnecessary_subquery", "enabled", 2, &err) == ERR_CONFIG);
    cr_expect(vsig_options_set(options, "unnecessary_subquery", "depth", 1, &err) == ERR_CONFIG);
    cr_expect(strstr(err.text, "max_subqueries"), "the known keys are named: %s", err.text);
    cr_expect(vsig_options_set(options, "nonsense", "enabled", 1, &err) == ERR_CONFIG);
    vsig_options_free(options);
    leak_check();
}

/* --- runs of signals defined for the tests --- */

static enum err_code too_many(struct vsig_run *run)
{
    for (unsigned i = 0; i < 3 * VSIG_MAX_FINDINGS; i++) {
        struct vsig_finding *finding = vsig_fire(run, VSIG_WARNING, NULL, "finding %u", i);
        vsig_add_fact(run, finding, "n", false, "%u", i);
    }
    return ERR_OK;
}

static enum err_code out_of_time(struct vsig_run *run)
{
    vsig_fire(run, VSIG_ERROR, NULL, "forgotten");
    return ERR_LIMIT_TIME;
}

static enum err_code only_a_note(struct vsig_run *run)
{
    vsig_note(run, NULL, "just so");
    return ERR_OK;
}

static enum err_code gives_up(struct vsig_run *run)
{
    vsig_unavailable(run, "sampled column");
    return ERR_OK;
}

static struct vsig_verdict run_with(enum err_code (*eval)(struct vsig_run *), unsigned needs, enum err_code code)
{
    static struct arena arena; /* findings live until the end of the test, so one arena is enough */
    arena_free(&arena);
    arena_init(&arena, 0);
    struct vsig_subject subject = {.arena = &arena, .code = code};
    struct vsig_def def = {.name = "made_up", .needs = needs, .eval = eval};
    struct vsig_options options = {0};
    struct vsig_verdict verdict;
    vsig_run_one(&subject, &def, &options, &verdict);
    return verdict;
}

Test(run, findings_are_capped_and_vote_counts)
{
    struct vsig_verdict verdict = run_with(too_many, 0, ERR_OK);
    cr_expect(verdict.state == VSIG_FIRED && verdict.n_findings == VSIG_MAX_FINDINGS);
    cr_expect(strcmp(verdict.findings->message, "finding 0") == 0 && strcmp(verdict.findings->facts->value, "0") == 0);
}

Test(run, error_makes_signal_unavailable_and_drops_findings)
{
    struct vsig_verdict verdict = run_with(out_of_time, 0, ERR_OK);
    cr_expect(verdict.state == VSIG_UNAVAILABLE && strcmp(verdict.reason, "limit_time") == 0);
    cr_expect(!verdict.findings && verdict.n_findings == 0);
}

Test(run, note_is_not_a_vote)
{
    struct vsig_verdict verdict = run_with(only_a_note, 0, ERR_OK);
    cr_expect(verdict.state == VSIG_SILENT && verdict.n_findings == 1);
    cr_expect(verdict.findings->severity == VSIG_NOTE);
}

Test(run, unmet_need_is_never_silent)
{
    cr_expect(strcmp(run_with(too_many, VSIG_NEEDS_DB, ERR_OK).reason, "no database") == 0);
    cr_expect(strcmp(run_with(too_many, VSIG_NEEDS_QUESTION, ERR_OK).reason, "no question") == 0);
    cr_expect(strcmp(run_with(too_many, VSIG_NEEDS_RESULT, ERR_OK).reason, "no database") == 0);
    cr_expect(strcmp(run_with(too_many, 0, ERR_SYNTAX).reason, "syntax") == 0);
    cr_expect(strcmp(run_with(gives_up, 0, ERR_OK).reason, "sampled column") == 0);
}

Test(run, full_arena_keeps_vote)
{
    struct arena arena;
    arena_init(&arena, 1);
    struct vsig_subject subject = {.arena = &arena};
    struct vsig_def def = {.name = "made_up", .eval = too_many};
    struct vsig_options options = {0};
    struct vsig_verdict verdict;
    vsig_run_one(&subject, &def, &options, &verdict);
    cr_expect(verdict.state == VSIG_FIRED && !verdict.findings);
    arena_free(&arena);
    leak_check();
}
