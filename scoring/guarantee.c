/* Reads a calibration file (guarantee.h), finds the records that apply to a request, and computes the threshold from
 * them.
 *
 *   {"format": "assay.calibration", "version": 2, "strategy": "rerank", "repairs": false,
 *    "llm": "" without a language model,
 *    "models": {"label_model": version, "classifier": version or "", "verifier": version},
 *    "databases": [name, ...] by number,
 *    "groups": {generator: [[P, 0 or 1, number of its database, traits ...], ...], ...}}
 *
 * Version 1 has no traits, so all its answers count as alike. Records are grouped by generator. A database with enough
 * records of a generator has a separate group, and one more group has all records. A request whose settings or
 * generator differ from those of the file has no guarantee. A file made with other models is an error. */
#include "scoring/guarantee.h"

#include "lib/learn/json_file.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum {
    BEFORE_TRAITS = 3, /* number of values in a record before its traits */
    KNOWN = 10000      /* maximum number of records that new answers are compared with */
};
static const double MOST = 1e6; /* maximum absolute value of a trait */

struct group {
    char *name;
    struct risk_record *records; /* sorted by P, highest first */
    uint32_t n;
    struct risk_scale scale;
};

struct guarantee {
    enum msg_strategy strategy;
    bool repairs;
    char *llm;
    struct group groups[2 * GUARANTEE_MAX_GROUPS]; /* of generators; then one of all records; then of databases */
    uint32_t n_generators, n_groups;
    GPtrArray *databases; /* names, by number */
};

/* --- the file --- */

static bool read_record(const json_t *json, struct risk_record *out)
{
    const json_t *p = json_array_get(json, 0), *right = json_array_get(json, 1), *cluster = json_array_get(json, 2);
    double value = json_number_value(p);
    json_int_t mark = json_integer_value(right), number = json_integer_value(cluster);
    size_t n = json_array_size(json);
    if ((n != BEFORE_TRAITS && n != BEFORE_TRAITS + RISK_TRAITS) || !json_is_number(p) || !(value >= 0 && value <= 1))
        return false;
    if (!json_is_integer(right) || (mark != 0 && mark != 1)) return false;
    if (!json_is_integer(cluster) || number < 0 || number > UINT32_MAX) return false;
    *out = (struct risk_record){value, (uint32_t)number, mark == 1, {0}};
    for (unsigned t = 0; n > BEFORE_TRAITS && t < RISK_TRAITS; t++) {
        const json_t *trait = json_array_get(json, BEFORE_TRAITS + t);
        if (!json_is_number(trait) || !(fabs(json_number_value(trait)) <= MOST)) return false;
        out->traits[t] = (float)json_number_value(trait);
    }
    return true;
}

static bool read_group(struct guarantee *g, const char *name, const json_t *list)
{
    struct group *group = &g->groups[g->n_groups];
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > GUARANTEE_MAX_RECORDS || g->n_groups + 1 >= GUARANTEE_MAX_GROUPS) return false;
    *group = (struct group){.name = g_strdup(name), .records = g_new0(struct risk_record, n + 1), .n = (uint32_t)n};
    g->n_groups++;
    for (size_t i = 0; i < n; i++)
        if (!read_record(json_array_get(list, i), &group->records[i])) return false;
    risk_sort(group->records, group->n);
    return true;
}

/* Adds the group of all records. */
static bool add_all(struct guarantee *g)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->n_groups; i++) n += g->groups[i].n;
    if (n > GUARANTEE_MAX_RECORDS) return false;
    struct group all = {.name = g_strdup(GUARANTEE_ALL), .records = g_new0(struct risk_record, n + 1)};
    for (uint32_t i = 0; i < g->n_groups; i++) {
        memcpy(all.records + all.n, g->groups[i].records, g->groups[i].n * sizeof *all.records);
        all.n += g->groups[i].n;
    }
    risk_sort(all.records, all.n);
    g->n_generators = g->n_groups;
    g->groups[g->n_groups++] = all;
    return true;
}

/* --- databases --- */

static bool read_databases(struct guarantee *g, const json_t *names)
{
    size_t n = json_array_size(names);
    if (n > GUARANTEE_MAX_DATABASES) return false;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name) return false;
        g_ptr_array_add(g->databases, g_strdup(name));
    }
    return true;
}

/* Moves the records of one database from the generator's group into a separate group. Does nothing if there is no
 * capacity for another group. */
static void split_off(struct guarantee *g, struct group *from, uint32_t database, uint32_t n)
{
    if (g->n_groups == G_N_ELEMENTS(g->groups)) return;
    struct group *own = &g->groups[g->n_groups++];
    uint32_t left = 0;
    *own = (struct group){.name = g_strdup_printf("%s/%s", from->name, (const char *)g->databases->pdata[database]),
                          .records = g_new0(struct risk_record, n)};
    for (uint32_t i = 0; i < from->n; i++) /* records are sorted, so both parts are sorted too */
        if (from->records[i].cluster == database)
            own->records[own->n++] = from->records[i];
        else
            from->records[left++] = from->records[i];
    from->n = left;
}

static void split_databases(struct guarantee *g)
{
    uint32_t *counts = g_new(uint32_t, g->databases->len + 1);
    for (uint32_t i = 0; i < g->n_generators; i++) {
        struct group *of = &g->groups[i];
        memset(counts, 0, (g->databases->len + 1) * sizeof *counts);
        for (uint32_t k = 0; k < of->n; k++)
            if (of->records[k].cluster < g->databases->len) counts[of->records[k].cluster]++;
        for (uint32_t d = 0; d < g->databases->len; d++)
            if (counts[d] >= GUARANTEE_OF_DATABASE) split_off(g, of, d, counts[d]);
    }
    g_free(counts);
}

static enum err_code check_models(const json_t *models, const struct guarantee_conditions *own, struct err *err)
{
    const struct {
        const char *key, *version;
    } rows[] = {{"label_model", own->label_model}, {"classifier", own->classifier}, {"verifier", own->verifier}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *theirs = json_string_value(json_object_get(models, rows[i].key));
        if (theirs && strcmp(theirs, rows[i].version ? rows[i].version : "") == 0) continue;
        return err_set(err, ERR_CONFIG, "was made with another %s" ERR_HINT "run assay calibrate again", rows[i].key);
    }
    return ERR_OK;
}

static enum err_code read_guarantee(struct guarantee *g, const json_t *root, const struct guarantee_conditions *own,
                                    struct err *err)
{
    const char *strategy = json_string_value(json_object_get(root, "strategy")), *name;
    const json_t *groups = json_object_get(root, "groups"), *list;
    int number = strategy ? msg_strategy_by_name(strategy) : -1;
    if (number < 0 || !json_is_boolean(json_object_get(root, "repairs")))
        return err_set(err, ERR_CONFIG, "strategy or repairs is missing or invalid");
    g->strategy = (enum msg_strategy)number;
    g->repairs = json_is_true(json_object_get(root, "repairs"));
    const char *llm = json_string_value(json_object_get(root, "llm")); /* older files have no such member */
    g->llm = g_strdup(llm ? llm : "");
    enum err_code code = check_models(json_object_get(root, "models"), own, err);
    if (code) return code;
    json_object_foreach((json_t *)(uintptr_t)groups, name, list)
    {
        if (!read_group(g, name, list))
            return err_set(err, ERR_CONFIG, "group '%.40s' has an invalid record or too many records", name);
    }
    if (!g->n_groups || !add_all(g)) return err_set(err, ERR_CONFIG, "there are no records, or too many");
    if (!read_databases(g, json_object_get(root, "databases")))
        return err_set(err, ERR_CONFIG, "a database has no name, or there are too many databases");
    split_databases(g);
    for (uint32_t i = 0; i < g->n_groups; i++) g->groups[i].scale = risk_measure(g->groups[i].records, g->groups[i].n);
    return ERR_OK;
}

enum err_code guarantee_load(const char *path, const struct guarantee_conditions *conditions, struct guarantee **out,
                             struct err *err)
{
    char *text = NULL;
    size_t len;
    json_t *root = NULL;
    struct guarantee *g = g_new0(struct guarantee, 1);
    g->databases = g_ptr_array_new_with_free_func(g_free);
    struct err why = {0};
    enum err_code code = model_file_read(path, &text, &len, &why);
    if (!code && model_json_parse(text, len, GUARANTEE_FORMAT, GUARANTEE_VERSION, &root, &why)) code = ERR_CONFIG;
    if (!code) code = read_guarantee(g, root, conditions, &why);
    json_decref(root);
    g_free(text);
    *out = code ? NULL : g;
    if (!code) return ERR_OK;
    guarantee_free(g);
    return err_at(err, code, &why, "%s", path);
}

void guarantee_free(struct guarantee *guarantee)
{
    if (!guarantee) return;
    for (uint32_t i = 0; i < guarantee->n_groups; i++) {
        g_free(guarantee->groups[i].name);
        g_free(guarantee->groups[i].records);
    }
    g_ptr_array_free(guarantee->databases, TRUE);
    g_free(guarantee->llm);
    g_free(guarantee);
}

/* --- use --- */

uint32_t guarantee_n_groups(const struct guarantee *guarantee)
{
    return guarantee->n_groups;
}

void guarantee_watch(const struct guarantee *guarantee, uint32_t group, struct risk_shift *shift)
{
    static const double LEVEL = 0.01;
    const struct group *of = &guarantee->groups[group];
    uint32_t step = of->n / KNOWN + 1;
    risk_shift_begin(shift, LEVEL);
    for (uint32_t i = 0; i < of->n; i += step) {
        const double values[RISK_SHIFT_VALUES] = {
            of->records[i].p, risk_strangeness(of->records, of->n, &of->scale, of->records[i].traits, i)};
        risk_shift_know(shift, values);
    }
}

bool guarantee_saw(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer,
                   struct risk_shift *shift)
{
    const struct group *of = &guarantee->groups[group];
    const double values[RISK_SHIFT_VALUES] = {answer->p,
                                              risk_strangeness(of->records, of->n, &of->scale, answer->traits, of->n)};
    return risk_shift_add(shift, values);
}

/* True if both candidates ran and returned the same rows. A result that is withheld because of a denied column equals
 * no other result. */
static bool agree(const struct msg_execution *a, const struct msg_execution *b)
{
    bool ran = a && b && !a->withheld && !b->withheld && strcmp(a->code, "ok") == 0 && strcmp(b->code, "ok") == 0;
    return ran && memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

static float measured(double value)
{
    return isnan(value) ? 0 : (float)value;
}

void guarantee_traits(const struct msg_judged *candidates, uint32_t n, uint32_t chosen, float out[RISK_TRAITS])
{
    const struct msg_judged *answer = &candidates[chosen];
    double votes = 0, with = 0, failed = 0, rival = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct msg_judged *other = &candidates[i];
        double count = other->count ? other->count : 1;
        bool agrees = i == chosen || agree(answer->execution, other->execution);
        votes += count;
        with += agrees ? count : 0;
        failed += other->invalid ? count : 0;
        if (!agrees && other->judged && !isnan(other->p_correct)) rival = fmax(rival, other->p_correct);
    }
    const double traits[RISK_TRAITS] = {with / fmax(votes, 1),
                                        failed / fmax(votes, 1),
                                        log1p(n),
                                        rival,
                                        answer->label_model_p,
                                        answer->entailment,
                                        log1p((double)answer->sql.len),
                                        log1p(answer->execution ? answer->execution->rows : 0)};
    for (unsigned t = 0; t < RISK_TRAITS; t++) out[t] = measured(traits[t]);
}

double guarantee_p_value(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer)
{
    const struct group *of = &guarantee->groups[group];
    return risk_p_value(of->records, of->n, &of->scale, answer);
}

static int group_of(const struct guarantee *guarantee, const char *generator)
{
    for (uint32_t i = 0; i < guarantee->n_generators; i++)
        if (strcmp(guarantee->groups[i].name, generator) == 0) return (int)i;
    return -1;
}

/* Returns the group of a generator's records on this database. Returns -1 if the database has none. */
static int group_of_database(const struct guarantee *guarantee, const char *generator, const char *db)
{
    size_t len = strlen(generator);
    for (uint32_t i = guarantee->n_generators + 1; db && i < guarantee->n_groups; i++) {
        const char *name = guarantee->groups[i].name;
        if (strncmp(name, generator, len) == 0 && name[len] == '/' && strcmp(name + len + 1, db) == 0) return (int)i;
    }
    return -1;
}

static struct risk_promise promise_of(const struct group *group, const struct guarantee_asked *asked)
{
    return risk_control(group->records, group->n, asked->alpha, asked->delta, 1);
}

struct guarantee_found guarantee_find(const struct guarantee *guarantee, const struct guarantee_asked *asked)
{
    const char *generator = asked->generator ? asked->generator : "*";
    struct guarantee_found out = {.group = -1, .name = generator, .promise = {.threshold = 1}};
    if (asked->strategy != guarantee->strategy || asked->repairs != guarantee->repairs ||
        strcmp(asked->llm, guarantee->llm) != 0) {
        out.why = "the request is judged with other settings than the calibration's verdicts";
        return out;
    }
    int own = group_of(guarantee, generator), all = (int)guarantee->n_generators;
    int database = own < 0 ? -1 : group_of_database(guarantee, generator, asked->db);
    if (own < 0) {
        out.why = "the calibration has no verdicts of the generator";
        return out;
    }
    out.group = database < 0 ? own : database;
    out.promise = promise_of(&guarantee->groups[out.group], asked);
    struct risk_promise together = {0};
    if (!out.promise.held && database < 0) together = promise_of(&guarantee->groups[all], asked);
    if (together.held) {
        out.group = all;
        out.promise = together;
    }
    out.name = guarantee->groups[out.group].name;
    if (!out.promise.held) out.why = "the labelled verdicts do not support this guarantee";
    return out;
}
