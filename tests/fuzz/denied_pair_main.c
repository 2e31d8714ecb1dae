/* Judges the same random requests on two databases that differ only in denied values. The verdicts must be equal byte
 * for byte, except for times.
 *
 *   denied_pair [--postgres DSN | --mariadb URL] [--requests N] [--seconds S] [--seed N] [--keep DIR]
 *
 * The program ends after N requests or S seconds, whichever comes first. Requests take all options at random, and
 * questions contain values that only one of the two databases holds in a denied column. Half of the statements are
 * rewritten to read no denied column, so that many run.
 *
 * A request whose verdicts differ is judged twice more, because a statement may exceed its time limit on a busy
 * machine. The request leaks if its verdicts differ each time. The two verdicts of the last leak are written to DIR.
 *
 * A control run comes first. It judges the same requests with nothing denied until two verdicts differ. A comparison
 * that never sees a difference would prove nothing. */
#include "lib/base/clock.h"
#include "tests/fuzz/denied_shop.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 6, TRIES = 3, STATEMENT_MS = 5000, SHOWN = 200 };

struct pair {
    struct shop left, right;
    GRegex *names, *numbers; /* patterns of the names and numbers that are replaced */
    const char *folder;      /* folder for verdicts; if NULL, they are not written */
    uint64_t requests, candidates, executed, denied, leaks;
};

/* --- requests --- */

static const char *const QUESTIONS[] = {
    "How many customers are in Zebulonix?",
    "Which customers of Perth have an address, and how many orders?",
    "What is the salary of Ann?",
    "Name the customer whose email is quite a long address, longer than all others",
    "How many customers earn 900000000000?",
    "Which badge has code 30?",
    "List the names of customers with salary above 1 who have an order",
    "What is the average total of the orders of each city?",
    "Which customers have no email?",
    "Show the highest paid customer and the city",
};
static const char *const EVIDENCES[] = {NULL, NULL, "well paid refers to salary > 2", "address refers to email",
                                        "Zebulonix refers to city = 'Zebulonix'"};
static const char *const STATEMENTS[] = {
    "SELECT count(*) FROM customer WHERE city = 'Zebulonix'",
    "SELECT count(*) FROM customer WHERE name = 'Zebulonix'",
    "SELECT name FROM customer WHERE city = 'Perth' ORDER BY name",
    "SELECT city, avg(total) FROM customer JOIN orders ON customer.id = orders.customer_id GROUP BY city",
    "SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.total > 1",
    "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM orders)",
    "SELECT owner FROM badge LIMIT 1",
    "SELECT name FROM tested",
    "SELECT count(*) FROM arms",
    "SELECT count(email) FROM customer",
    "SELECT 1 FROM orders WHERE id <= (SELECT length(email) FROM customer WHERE id = 1)",
    "SELECT CASE WHEN email LIKE 'Z%' THEN abs(-9223372036854775807 - 1) ELSE 1 END FROM customer",
    "SELECT name FROM customer ORDER BY salary DESC LIMIT 1",
    "SELECT o.note FROM orders o JOIN customer c ON c.email = o.note",
    "SELECT name FROM customer NATURAL JOIN renamed",
};

/* Replaces each name of a denied column, or of a column that shows denied values, by the name of a permitted column. */
static gboolean rename_one(const GMatchInfo *match, GString *out, void *unused)
{
    static const char *const names[][2] = {{"email", "city"},   {"email_lc", "label"}, {"salary", "id"},
                                           {"pay", "label"},    {"code", "id"},        {"reach", "name"},
                                           {"who", "name"},     {"a", "id"},           {"b", "name"},
                                           {"x", "note"},       {"docs", "customer"},  {"olds", "customer"},
                                           {"badge", "orders"}, {"renamed", "people"}, {"above", "people"},
                                           {"arms", "orders"},  {"tested", "people"},  {"docs_content", "orders"}};
    char *name = g_match_info_fetch(match, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i][0], name) == 0) g_string_append(out, names[i][1]);
    g_free(name);
    (void)unused;
    return FALSE;
}

static char *statement(const struct pair *pair, GRand *rand)
{
    if (g_rand_int_range(rand, 0, 3) == 0)
        return g_strdup(STATEMENTS[g_rand_int_range(rand, 0, G_N_ELEMENTS(STATEMENTS))]);
    char *any = denied_statement(rand, pair->left.engine);
    /* Masks object and transaction numbers, because each PostgreSQL database assigns different ones. */
    char *sql = g_regex_replace_literal(pair->numbers, any, -1, 0, "ctid", 0, NULL);
    g_free(any);
    if (g_rand_boolean(rand)) return sql;
    char *plain = g_regex_replace_eval(pair->names, sql, -1, 0, 0, rename_one, NULL, NULL);
    g_free(sql);
    return plain;
}

#define ANY(rand, count) g_rand_int_range(rand, 0, count)

static void make_request(const struct pair *pair, GRand *rand, struct msg_request *request,
                         struct msg_candidate *candidates)
{
    unsigned n = 1 + (unsigned)ANY(rand, MAX_CANDIDATES);
    for (unsigned i = 0; i < n; i++) {
        char *sql = statement(pair, rand);
        candidates[i] = (struct msg_candidate){.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
    }
    *request = (struct msg_request){.id = "r",
                                    .db = "shop",
                                    .question = QUESTIONS[ANY(rand, G_N_ELEMENTS(QUESTIONS))],
                                    .evidence = EVIDENCES[ANY(rand, G_N_ELEMENTS(EVIDENCES))],
                                    .candidates = candidates,
                                    .n_candidates = n,
                                    .options = {.deadline_ms = -1,
                                                .strategy = (enum msg_strategy)ANY(rand, MSG_STRATEGY_COUNT),
                                                .policy = (enum msg_policy)ANY(rand, MSG_POLICY_COUNT),
                                                .expose = (enum msg_expose)ANY(rand, MSG_EXPOSE_COUNT),
                                                .order = (enum msg_order)ANY(rand, MSG_ORDER_COUNT),
                                                .explain = (enum msg_explain)ANY(rand, MSG_EXPLAIN_COUNT),
                                                .repair = (enum msg_repair)ANY(rand, MSG_REPAIR_COUNT)}};
}

/* --- verdicts --- */

static bool is_time(const char *key)
{
    return g_str_has_suffix(key, "ms") || g_str_has_suffix(key, "ns") || g_str_has_suffix(key, "seconds");
}

static void drop_times(json_t *json)
{
    const char *key;
    void *next;
    json_t *value;
    size_t i;
    json_object_foreach_safe(json, next, key, value)
    {
        if (json_is_number(value) && is_time(key))
            json_object_del(json, key);
        else
            drop_times(value);
    }
    json_array_foreach(json, i, value) drop_times(value);
}

static void count(struct pair *pair, const struct msg_verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_execution *execution = verdict->candidates[i].execution;
        pair->candidates++;
        pair->executed += execution && strcmp(execution->code, "ok") == 0;
        pair->denied += execution && strcmp(execution->code, "denied") == 0;
    }
}

/* Returns the verdict without times. Free with g_free. */
static char *judge(struct pair *pair, struct shop *shop, const struct msg_request *request)
{
    struct msg_verdict *verdict = shop_judge(shop, request);
    if (shop == &pair->left) count(pair, verdict);
    char *text = msg_verdict_to_json(verdict);
    msg_verdict_free(verdict);
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    require(json != NULL, "verdict", "it is not JSON");
    drop_times(json);
    text = json_dumps(json, JSON_SORT_KEYS | JSON_INDENT(1));
    json_decref(json);
    GString *own = g_string_new(text); /* errors of MariaDB contain the name of the database */
    g_string_replace(own, shop->name, "shop", 0);
    free(text);
    return g_string_free(own, FALSE);
}

static void keep(const char *folder, const char *name, const char *text)
{
    char *path = g_build_filename(folder, name, NULL);
    require(g_file_set_contents(path, text, -1, NULL), "cannot write", path);
    g_free(path);
}

static void print_difference(const struct pair *pair, const struct msg_request *request, const char *left,
                             const char *right)
{
    size_t same = 0;
    while (left[same] && left[same] == right[same]) same++;
    printf("question: %s\n", request->question);
    for (uint32_t i = 0; i < request->n_candidates; i++) printf("  %s\n", request->candidates[i].sql.bytes);
    printf("  left: %.*s\n  right: %.*s\n", SHOWN, left + same, SHOWN, right + same);
    if (!pair->folder) return;
    keep(pair->folder, "left.json", left);
    keep(pair->folder, "right.json", right);
}

static bool differs(struct pair *pair, const struct msg_request *request, bool tell)
{
    char *left = judge(pair, &pair->left, request), *right = judge(pair, &pair->right, request);
    bool out = strcmp(left, right) != 0;
    if (out && tell) print_difference(pair, request, left, right);
    g_free(left);
    g_free(right);
    return out;
}

/* Returns true if the verdicts on the next request differ in every attempt. */
static bool check(struct pair *pair, GRand *rand, bool tell)
{
    struct msg_candidate candidates[MAX_CANDIDATES];
    struct msg_request request;
    make_request(pair, rand, &request, candidates);
    bool leaks = true;
    for (unsigned i = 0; i < TRIES && leaks; i++) leaks = differs(pair, &request, tell && i == TRIES - 1);
    for (uint32_t i = 0; i < request.n_candidates; i++) free((void *)(uintptr_t)candidates[i].sql.bytes);
    pair->requests++;
    return leaks;
}

static void open_both(struct pair *pair, enum worker_deny mode)
{
    shop_open(&pair->left, mode, STATEMENT_MS);
    shop_open(&pair->right, mode, STATEMENT_MS);
}

static void close_both(struct pair *pair)
{
    engine_close(pair->left.judge);
    engine_close(pair->right.judge);
}

static void check_that_differences_are_seen(struct pair *pair, guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    bool seen = false;
    open_both(pair, WORKER_DENY_UNSET);
    for (unsigned i = 0; i < 100 && !seen; i++) seen = check(pair, rand, false);
    close_both(pair);
    g_rand_free(rand);
    require(seen, "without a policy", "no verdict shows a difference");
    pair->requests = pair->candidates = pair->executed = pair->denied = 0;
}

int main(int argc, char **argv)
{
    struct pair pair = {.names =
                            g_regex_new("\\b(email|email_lc|salary|pay|code|reach|who|a|b|x|docs|olds|badge|renamed|"
                                        "above|arms|tested|docs_content)\\b",
                                        0, 0, NULL),
                        .numbers = g_regex_new("\\b(xmin|tableoid)\\b", 0, 0, NULL)};
    gint64 requests = G_MAXINT64, seconds = 30, seed = 1;
    char *postgres = NULL, *mariadb = NULL, *folder = NULL;
    const GOptionEntry options[] = {{"postgres", 0, 0, G_OPTION_ARG_STRING, &postgres, "a server", "DSN"},
                                    {"mariadb", 0, 0, G_OPTION_ARG_STRING, &mariadb, "a server", "URL"},
                                    {"requests", 0, 0, G_OPTION_ARG_INT64, &requests, "at most", "N"},
                                    {"seconds", 0, 0, G_OPTION_ARG_INT64, &seconds, "at most", "S"},
                                    {"keep", 0, 0, G_OPTION_ARG_FILENAME, &folder, "for verdicts", "DIR"},
                                    {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, "of the generator", "N"},
                                    {0}};
    GOptionContext *context = g_option_context_new(NULL);
    g_option_context_add_main_entries(context, options, NULL);
    require(g_option_context_parse(context, &argc, &argv, NULL), "usage", "see the head of denied_pair_main.c");
    g_option_context_free(context);
    pair.folder = folder;
    shop_make_on(&pair.left, postgres, mariadb, DENIED_LEFT);
    shop_make_on(&pair.right, postgres, mariadb, DENIED_RIGHT);

    check_that_differences_are_seen(&pair, (guint32)seed);
    open_both(&pair, WORKER_DENY_REFUSE);
    GRand *rand = g_rand_new_with_seed((guint32)seed);
    int64_t until = clock_now_ns() + seconds * 1000000000;
    while (pair.requests < (uint64_t)requests && clock_now_ns() < until) pair.leaks += check(&pair, rand, true);
    g_rand_free(rand);
    close_both(&pair);
    shop_remove(&pair.left);
    shop_remove(&pair.right);
    g_regex_unref(pair.names);
    g_regex_unref(pair.numbers);
    printf("%s: %llu requests of %llu candidates, %llu of them ran, %llu were denied; %llu requests leaked\n",
           shop_engine_name(&pair.left), (unsigned long long)pair.requests, (unsigned long long)pair.candidates,
           (unsigned long long)pair.executed, (unsigned long long)pair.denied, (unsigned long long)pair.leaks);
    g_free(folder);
    g_free(postgres);
    g_free(mariadb);
    return pair.leaks || !pair.executed || !pair.denied;
}
