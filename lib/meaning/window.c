/* Reads windows, and the keys of an ORDER BY. */
#include "lib/meaning/meaning_int.h"

#include <string.h>

/* --- order --- */

static void read_key(struct meaning_reader *r, const struct sql_node *term, struct meaning_key *key)
{
    key->term = meaning_read_term(r, sql_kid(term, 0));
    key->descending = term->op == SQL_DESC;
    key->nulls = (signed char)(term->flags & SQL_F_NULLS_FIRST ? -1 : term->flags & SQL_F_NULLS_LAST ? 1 : 0);
}

uint32_t meaning_read_order(struct meaning_reader *r, const struct sql_node *order, struct meaning_key **out)
{
    uint32_t n = order ? order->n_kids : 0;
    *out = arena_new_array(r->arena, n, struct meaning_key);
    if (!*out) {
        r->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) read_key(r, order->kids[i], *out + i);
    return n;
}

/* --- frames --- */

/* Returns the frame in lower case, with single spaces. */
static const char *plain_frame(struct meaning_reader *r, const struct sql_node *frame)
{
    char *copy = arena_strndup(r->arena, frame->text, frame->text_len);
    size_t n = 0;
    if (!copy) {
        r->failed = true;
        return "";
    }
    for (size_t i = 0; copy[i]; i++) {
        char c = copy[i] >= 'A' && copy[i] <= 'Z' ? (char)(copy[i] | 32) : copy[i];
        bool space = strchr(" \t\r\n", c) != NULL;
        if (!space || (n && copy[n - 1] != ' ')) copy[n++] = space ? ' ' : c;
    }
    copy[n] = '\0';
    return copy;
}

static const char *name_frame(struct meaning_reader *r, const struct sql_node *frame, bool ordered)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"rows unbounded preceding", "rows to the current row"},
        {"rows between unbounded preceding and current row", "rows to the current row"},
        {"range unbounded preceding", "range to the current row"},
        {"range between unbounded preceding and current row", "range to the current row"},
        {"rows between unbounded preceding and unbounded following", "all rows"},
        {"range between unbounded preceding and unbounded following", "all rows"},
    };
    if (!frame) return ordered ? "range to the current row" : "all rows";
    const char *text = plain_frame(r, frame);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].text, text) == 0) return rows[i].name;
    return text;
}

/* --- windows --- */

static const struct sql_node *find_window(struct meaning_reader *r, const struct sql_node *call,
                                          const struct sql_node *window)
{
    const struct sql_block *block = sql_block_of(r->bound, call);
    const struct sql_node *list = block ? sql_kid(block->node, SELECT_WINDOWS) : NULL;
    for (uint32_t i = 0; list && i < list->n_kids; i++)
        if (sql_name_is(list->kids[i]->text, list->kids[i]->text_len, window->text2, window->text2_len))
            return list->kids[i];
    return NULL;
}

static bool has_frame(const char *name)
{
    static const char *const without[] = {"row_number", "rank",  "dense_rank", "percent_rank",
                                          "cume_dist",  "ntile", "lag",        "lead"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(without[i], name) == 0) return false;
    return true;
}

static struct meaning_window *read_definition(struct meaning_reader *r, const struct sql_node *node, const char *name)
{
    struct meaning_window *window = arena_new(r->arena, struct meaning_window);
    const struct sql_node *partition = sql_kid(node, WINDOW_PARTITION);
    uint32_t n = partition ? partition->n_kids : 0;
    if (window) window->partition = arena_new_array(r->arena, n, struct meaning_term *);
    if (!window || !window->partition) {
        r->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) window->partition[i] = meaning_read_term(r, partition->kids[i]);
    window->n_partition = meaning_terms_sort(window->partition, n, true);
    window->n_order = meaning_read_order(r, sql_kid(node, WINDOW_ORDER), &window->order);
    window->frame = has_frame(name) ? name_frame(r, sql_kid(node, WINDOW_FRAME), window->n_order > 0) : "";
    return window;
}

/* Reads the arguments of a window function. LAG(x) and LEAD(x) get their default offset of 1 as a second argument. */
static uint32_t read_arguments(struct meaning_reader *r, const struct sql_node *call, const char *name,
                               struct meaning_term ***out)
{
    const struct sql_node *list = sql_kid(call, CALL_ARGS);
    uint32_t n = list ? list->n_kids : 0;
    *out = arena_new_array(r->arena, n + 1, struct meaning_term *);
    if (!*out) {
        r->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) (*out)[i] = meaning_read_term(r, list->kids[i]);
    if (n == 1 && (strcmp(name, "lag") == 0 || strcmp(name, "lead") == 0))
        (*out)[n++] = meaning_term_make(r, MEANING_VALUE, "1", NULL, 0, call);
    return n;
}

static bool is_measure_name(const char *name)
{
    static const char *const names[] = {"count", "sum", "avg", "min", "max", "total"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

struct meaning_term *meaning_read_window(struct meaning_reader *r, const struct sql_node *call)
{
    const struct sql_node *node = sql_kid(call, CALL_WINDOW);
    const char *name = meaning_lower(r, call->text, call->text_len);
    if (node->flags & SQL_F_NAMED) node = find_window(r, call, node);
    if (!node || (node->text2 && !(node->flags & SQL_F_NAMED)))
        return meaning_term_unknown(r, "a window that extends another", call);
    struct meaning_term **args = NULL, *measure = NULL;
    bool grouped = r->grouped;
    r->grouped = false; /* a frame may have no row although each group has one */
    bool filtered = sql_kid(call, CALL_FILTER) || call->flags & SQL_F_DISTINCT;
    if (is_measure_name(name) || (filtered && sql_kid(call, CALL_ARGS))) measure = meaning_read_measure(r, call);
    r->grouped = grouped;
    uint32_t n = measure ? 1 : read_arguments(r, call, name, &args);
    struct meaning_term *term =
        meaning_term_make(r, MEANING_WINDOW, measure ? "measure" : name, measure ? &measure : args, n, call);
    struct meaning_window *window = read_definition(r, node, name);
    if (!window || r->failed) return term;
    term->window = window;
    meaning_term_rehash(term);
    return term;
}
