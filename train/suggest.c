/* Proposes words of questions as names of columns and values, by counting gold queries. A query counts once for a word,
 * even if the log has several phrasings of its question.
 *
 * A word is proposed for a column or value if nearly all queries whose questions contain the word use it. The other
 * queries of the database must seldom use it. Otherwise "the" would become a word for the most used column. */
#include "train/suggest.h"

#include "lib/question/question.h"
#include "signals/support/predicate.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_QUERIES = 3, MAX_TERM_WORDS = 2 };
static const double MIN_PRECISION = 0.8, MIN_LIFT = 3;
static const char BETWEEN = '\x1F'; /* separates a column and its value */

/* Number of queries by target, for one word or for all queries of a database. */
struct tally {
    unsigned n;
    GHashTable *targets;
};

struct base {
    struct tally all;
    GHashTable *terms; /* text → struct tally */
    GHashTable *seen;  /* queries, and pairs of a word and a query, that are already counted */
};

struct suggest {
    GHashTable *bases; /* name → struct base */
};

static void tally_free(gpointer data)
{
    struct tally *tally = data;
    g_hash_table_destroy(tally->targets);
    g_free(tally);
}

static struct tally *tally_new(void)
{
    struct tally *tally = g_new0(struct tally, 1);
    tally->targets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return tally;
}

static void base_free(gpointer data)
{
    struct base *base = data;
    g_hash_table_destroy(base->all.targets);
    g_hash_table_destroy(base->terms);
    g_hash_table_destroy(base->seen);
    g_free(base);
}

static struct base *base_of(struct suggest *suggest, const char *name)
{
    struct base *base = g_hash_table_lookup(suggest->bases, name);
    if (base) return base;
    base = g_new0(struct base, 1);
    base->all.targets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    base->terms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, tally_free);
    base->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(suggest->bases, g_strdup(name), base);
    return base;
}

struct suggest *suggest_new(void)
{
    struct suggest *suggest = g_new0(struct suggest, 1);
    suggest->bases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, base_free);
    return suggest;
}

void suggest_free(struct suggest *suggest)
{
    g_hash_table_destroy(suggest->bases);
    g_free(suggest);
}

static void count(struct tally *tally, GHashTable *targets)
{
    GHashTableIter iter;
    gpointer target;
    tally->n++;
    g_hash_table_iter_init(&iter, targets);
    while (g_hash_table_iter_next(&iter, &target, NULL)) {
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(tally->targets, target)) + 1;
        g_hash_table_insert(tally->targets, g_strdup(target), GUINT_TO_POINTER(n));
    }
}

static char *name_of(const struct schema_index *schema, const struct schema_column *column)
{
    return g_strconcat(schema->tables[column->table].name, ".", column->name, NULL);
}

/* Returns the columns and values that the query uses. Columns that are used only in joins are left out. */
static GHashTable *targets_of(struct vsig_subject *subject)
{
    GHashTable *targets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(subject, predicates);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < predicates[i].n_literals; l++) {
            const struct sql_node *literal = predicates[i].literals[l];
            char *column = name_of(subject->schema, predicates[i].column);
            if (literal->text)
                g_hash_table_add(targets,
                                 g_strdup_printf("%s%c%.*s", column, BETWEEN, (int)literal->text_len, literal->text));
            g_free(column);
        }
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        const struct schema_column *column = schema_column_of(subject->schema, ref);
        if (column && ref->clause != SQL_CLAUSE_FROM) g_hash_table_add(targets, name_of(subject->schema, column));
    }
    return targets;
}

/* Marks words that need no suggestion, because they already name a column, a value or a cue. */
static void mark(bool *explained, uint32_t n, uint32_t first, uint32_t n_tokens)
{
    for (uint32_t i = first; i < first + n_tokens && i < n; i++) explained[i] = true;
}

static bool *explained_of(struct arena *arena, const struct question *question)
{
    uint32_t n = question->tokens.n;
    bool *explained = arena_new_array(arena, n + 1, bool);
    if (!explained) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct text_token *t = &question->tokens.items[i];
        explained[i] = t->kind != TEXT_WORD || t->is_stop || t->is_number;
    }
    for (uint32_t i = 0; i < question->n_mentions; i++)
        mark(explained, n, question->mentions[i].first, question->mentions[i].n_tokens);
    for (uint32_t i = 0; i < question->n_values; i++)
        mark(explained, n, question->values[i].first, question->values[i].n_tokens);
    for (uint32_t i = 0; i < question->n_cues; i++)
        mark(explained, n, question->cues[i].first, question->cues[i].n_tokens);
    for (uint32_t i = 0; i < question->n_terms; i++)
        mark(explained, n, question->terms[i].first, question->terms[i].n_tokens);
    return explained;
}

static void add_term(struct base *base, const char *term, const char *gold, GHashTable *targets)
{
    char *key = g_strdup_printf("%s%c%s", term, BETWEEN, gold);
    if (!g_hash_table_add(base->seen, key)) return;
    struct tally *tally = g_hash_table_lookup(base->terms, term);
    if (!tally) g_hash_table_insert(base->terms, g_strdup(term), tally = tally_new());
    count(tally, targets);
}

static void add_terms(struct base *base, struct arena *arena, const struct vsig_subject *subject, GHashTable *targets)
{
    const struct text_tokens *tokens = &subject->analysis->tokens;
    const bool *explained = explained_of(arena, subject->analysis);
    for (uint32_t i = 0; explained && i < tokens->n; i++) {
        const char *term = NULL;
        for (uint32_t n = 0; n < MAX_TERM_WORDS && i + n < tokens->n && !explained[i + n]; n++) {
            const char *word = tokens->items[i + n].norm;
            term = term ? arena_printf(arena, "%s %s", term, word) : word;
            if (!term) return;
            add_term(base, term, subject->sql, targets);
        }
    }
}

void suggest_add(struct suggest *suggest, const char *db, const struct schema_index *schema, const char *question,
                 const char *evidence, const char *gold)
{
    struct arena arena;
    struct vsig_subject subject;
    struct base *base = base_of(suggest, db);
    arena_init(&arena, 0);
    enum err_code code =
        vsig_subject_init(&subject, &arena, schema, NULL, gold, strlen(gold), question, evidence, NULL);
    if (code == ERR_OK && subject.analysis) {
        GHashTable *targets = targets_of(&subject);
        if (g_hash_table_add(base->seen, g_strdup(gold))) count(&base->all, targets);
        add_terms(base, &arena, &subject, targets);
        g_hash_table_destroy(targets);
    }
    arena_free(&arena);
}

/* --- proposals ---------------------------------------------------------------------------------------------------- */

static unsigned of_target(const struct tally *tally, const char *target)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(tally->targets, target));
}

/* True if target `a` is better than `b`: more queries use it. If equally many do, a value is better, because it is more
 * specific than a column. */
static bool is_better(const struct tally *tally, const char *a, const char *b)
{
    unsigned with_a = of_target(tally, a), with_b = of_target(tally, b);
    bool value_a = strchr(a, BETWEEN), value_b = strchr(b, BETWEEN);
    if (with_a != with_b) return with_a > with_b;
    return value_a != value_b ? value_a : strcmp(a, b) < 0;
}

/* Returns the column or value that the word is proposed for; NULL if there is none. */
static const char *target_of(const struct base *base, const struct tally *tally)
{
    const char *best = NULL;
    GHashTableIter iter;
    gpointer key;
    if (tally->n < MIN_QUERIES) return NULL;
    g_hash_table_iter_init(&iter, tally->targets);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        unsigned with = of_target(tally, key), all = of_target(&base->all, key);
        double precision = (double)with / tally->n, chance = (double)all / MAX(base->all.n, 1);
        if (precision < MIN_PRECISION || precision < MIN_LIFT * chance) continue;
        if (!best || is_better(tally, key, best)) best = key;
    }
    return best;
}

static void put_term(FILE *out, const char *term, const struct tally *tally, const char *target)
{
    const char *value = strchr(target, BETWEEN);
    fputs("  ", out);
    schema_print_scalar(term, strlen(term), out);
    fputs(": {column: ", out);
    schema_print_scalar(target, value ? (size_t)(value - target) : strlen(target), out);
    if (value) fputs(", value: ", out);
    if (value) schema_print_scalar(value + 1, strlen(value + 1), out);
    fprintf(out, "} # %u of %u queries\n", of_target(tally, target), tally->n);
}

static unsigned print_base(const char *name, const struct base *base, FILE *out)
{
    unsigned n = 0;
    GList *terms = g_list_sort(g_hash_table_get_keys(base->terms), (GCompareFunc)strcmp);
    for (const GList *at = terms; at; at = at->next) {
        const struct tally *tally = g_hash_table_lookup(base->terms, at->data);
        const char *target = target_of(base, tally);
        if (!target) continue;
        if (!n++) fprintf(out, "# %s\nwords:\n", name);
        put_term(out, at->data, tally, target);
    }
    g_list_free(terms);
    return n;
}

unsigned suggest_print(const struct suggest *suggest, FILE *out)
{
    unsigned n = 0;
    GList *names = g_list_sort(g_hash_table_get_keys(suggest->bases), (GCompareFunc)strcmp);
    for (const GList *at = names; at; at = at->next)
        n += print_base(at->data, g_hash_table_lookup(suggest->bases, at->data), out);
    g_list_free(names);
    return n;
}
