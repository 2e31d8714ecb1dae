/* Prints a meaning, with one line for each part. A relation that is read as a table is printed below its reader, a
 * subquery inside its term. Two meanings print the same text if and only if their parts are equal, so test cases can be
 * written as text. */
#include "lib/meaning/meaning_int.h"

#include <glib.h>
#include <string.h>

static void print_term(GString *out, const struct meaning_term *term);
static void print_parts(GString *out, const struct meaning *m, const char *indent, const char *end);

/* --- terms ---------------------------------------------------------------------------------------------------- */

static void print_list(GString *out, struct meaning_term *const *terms, uint32_t n, const char *between)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i) g_string_append(out, between);
        print_term(out, terms[i]);
    }
}

static bool needs_parentheses(const struct meaning_term *term)
{
    return term->kind == MEANING_OPERATION || term->kind == MEANING_RATIO || term->kind == MEANING_WINDOW ||
           term->kind == MEANING_CASE || (term->kind == MEANING_MEASURE && term->rows);
}

static void print_operand(GString *out, const struct meaning_term *term)
{
    bool wrap = needs_parentheses(term);
    if (wrap) g_string_append_c(out, '(');
    print_term(out, term);
    if (wrap) g_string_append_c(out, ')');
}

/* Prints an operation: "a and b", "a = b", "a in (b, c)", "a is null", "exists (...)". */
static void print_operation(GString *out, const struct meaning_term *term)
{
    const char *name = term->name;
    bool list = g_str_equal(name, "in") || g_str_equal(name, "not in");
    if (term->n_parts == 1 && (g_str_has_prefix(name, "is ") || g_str_has_prefix(name, "ascending") ||
                               g_str_has_prefix(name, "descending"))) {
        print_operand(out, term->parts[0]);
        g_string_append_printf(out, " %s", name);
    } else if (term->n_parts == 1) {
        g_string_append_printf(out, "%s ", name);
        print_operand(out, term->parts[0]);
    } else if (list && term->parts[1]->kind != MEANING_QUERY) {
        print_operand(out, term->parts[0]);
        g_string_append_printf(out, " %s (", name);
        print_list(out, term->parts + 1, term->n_parts - 1, ", ");
        g_string_append_c(out, ')');
    } else {
        for (uint32_t i = 0; i < term->n_parts; i++) {
            if (i) g_string_append_printf(out, " %s ", g_str_equal(name, "in period") ? "in" : name);
            print_operand(out, term->parts[i]);
        }
    }
}

static void print_call(GString *out, const struct meaning_term *term)
{
    g_string_append_printf(out, "%s(", term->name);
    print_list(out, term->parts, term->n_parts, ", ");
    g_string_append_c(out, ')');
}

static void print_period(GString *out, const struct meaning_term *term)
{
    print_call(out, term);
    g_string_append_printf(out, " as %s", term->form);
}

static void print_case(GString *out, const struct meaning_term *term)
{
    g_string_append(out, "case");
    for (uint32_t i = 0; i + 1 < term->n_parts; i += 2) {
        g_string_append(out, i ? "; " : " ");
        print_term(out, term->parts[i]);
        g_string_append(out, ": ");
        print_term(out, term->parts[i + 1]);
    }
    if (term->n_parts % 2 == 0) return;
    g_string_append(out, "; else ");
    print_term(out, term->parts[term->n_parts - 1]);
}

static void print_measure(GString *out, const struct meaning_term *term)
{
    g_string_append_printf(out, "%s of %s", term->name, term->distinct ? "distinct " : "");
    if (term->n_parts)
        print_list(out, term->parts, term->n_parts, ", ");
    else
        g_string_append(out, "rows");
    if (term->rows) {
        g_string_append(out, " where ");
        print_term(out, term->rows);
    }
    bool counts = g_str_equal(term->name, "count");
    if (counts && !term->or_zero) g_string_append(out, ", NULL without rows");
    if (!counts && term->or_zero) g_string_append(out, ", 0 without rows");
    if (term->form) g_string_append_printf(out, ", %s", term->form);
}

static void print_ratio(GString *out, const struct meaning_term *term)
{
    print_operand(out, term->parts[0]);
    g_string_append(out, " / ");
    print_operand(out, term->parts[1]);
    if (!g_str_equal(term->name, "1")) g_string_append_printf(out, " x %s", term->name);
    if (term->integer) g_string_append(out, ", of integers");
}

static void print_keys(GString *out, const struct meaning_key *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i) g_string_append(out, ", ");
        print_term(out, keys[i].term);
        g_string_append(out, keys[i].descending ? " descending" : " ascending");
        if (keys[i].nulls) g_string_append(out, keys[i].nulls < 0 ? " nulls first" : " nulls last");
    }
}

static void print_window(GString *out, const struct meaning_term *term)
{
    if (g_str_equal(term->name, "measure"))
        print_term(out, term->parts[0]);
    else
        print_call(out, term);
    g_string_append(out, " over");
    const struct meaning_window *window = term->window;
    if (!window) return;
    if (*window->frame) g_string_append_printf(out, " %s", window->frame);
    if (window->n_partition) {
        g_string_append(out, " per ");
        print_list(out, window->partition, window->n_partition, ", ");
    }
    if (!window->n_order) return;
    g_string_append(out, " by ");
    print_keys(out, window->order, window->n_order);
}

static void print_query(GString *out, const struct meaning_term *term)
{
    if (term->name && *term->name) {
        g_string_append(out, term->name);
        return;
    }
    g_string_append_c(out, '(');
    if (term->relation) print_parts(out, term->relation, "", "; ");
    if (g_str_has_suffix(out->str, "; ")) g_string_truncate(out, out->len - 2);
    g_string_append_c(out, ')');
}

static void print_name(GString *out, const struct meaning_term *term)
{
    g_string_append(out, term->name);
}

static void print_unknown(GString *out, const struct meaning_term *term)
{
    g_string_append_printf(out, "unknown: %s", term->name);
}

static void print_term(GString *out, const struct meaning_term *term)
{
    static void (*const printers[MEANING_KIND_COUNT])(GString *, const struct meaning_term *) = {
        [MEANING_COLUMN] = print_name,     [MEANING_VALUE] = print_name,      [MEANING_OPERATION] = print_operation,
        [MEANING_CALL] = print_call,       [MEANING_PERIOD] = print_period,   [MEANING_CASE] = print_case,
        [MEANING_MEASURE] = print_measure, [MEANING_RATIO] = print_ratio,     [MEANING_WINDOW] = print_window,
        [MEANING_QUERY] = print_query,     [MEANING_UNKNOWN] = print_unknown,
    };
    printers[term->kind](out, term);
}

/* --- relations ------------------------------------------------------------------------------------------------ */

static void begin_line(GString *out, const char *indent, const char *label)
{
    if (*indent)
        g_string_append_printf(out, "%s%-8s ", indent + 1, label);
    else
        g_string_append_printf(out, "%s ", label);
}

static bool is_edge(const struct meaning_term *condition)
{
    return meaning_is_operation(condition, "=") && condition->parts[0]->kind == MEANING_COLUMN &&
           condition->parts[1]->kind == MEANING_COLUMN;
}

static void print_conditions(GString *out, struct meaning_term *const *terms, uint32_t n, const char *label, int edges,
                             const char *indent, const char *end)
{
    for (uint32_t i = 0; i < n; i++) {
        if (edges >= 0 && is_edge(terms[i]) != (edges > 0)) continue;
        begin_line(out, indent, label);
        print_term(out, terms[i]);
        g_string_append(out, end);
    }
}

static void print_sources(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    static const char *const joins[] = {"", " left"};
    if (!m->n_sources) return;
    begin_line(out, indent, "from");
    for (uint32_t i = 0; i < m->n_sources; i++) {
        const struct meaning_source *source = &m->sources[i];
        g_string_append_printf(out, "%s%s%s", i ? ", " : "", source->name, joins[source->join]);
        if (!source->on) continue;
        g_string_append(out, " by ");
        print_term(out, source->on);
    }
    g_string_append(out, end);
}

static void print_grain(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    if (m->grain == MEANING_ROWS) return;
    begin_line(out, indent, "grain");
    if (m->grain == MEANING_ONE) {
        g_string_append(out, "one row");
    } else {
        g_string_append(out, "one row per ");
        print_list(out, m->keys, m->n_keys, ", ");
    }
    if (m->distinct) g_string_append(out, ", then distinct");
    g_string_append(out, end);
}

static const char *role_of(const struct meaning_term *term)
{
    static const char *const roles[MEANING_KIND_COUNT] = {
        [MEANING_COLUMN] = "column", [MEANING_PERIOD] = "period", [MEANING_MEASURE] = "measure",
        [MEANING_RATIO] = "ratio",   [MEANING_WINDOW] = "window", [MEANING_UNKNOWN] = "unknown",
    };
    return roles[term->kind] ? roles[term->kind] : "value";
}

static void print_outputs(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        char *label = g_strdup_printf("%u %s", i + 1, role_of(m->outputs[i].term));
        begin_line(out, indent, label);
        print_term(out, m->outputs[i].term);
        g_string_append(out, end);
        g_free(label);
    }
}

static void print_order(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    if (!m->n_order) return;
    begin_line(out, indent, "order");
    for (uint32_t i = 0; i < m->n_order; i++) {
        uint32_t at = 0;
        while (at < m->n_outputs && m->outputs[at].term->hash != m->order[i].term->hash) at++;
        if (i) g_string_append(out, ", ");
        if (at == m->n_outputs) {
            print_keys(out, &m->order[i], 1);
            continue;
        }
        g_string_append_printf(out, "%u %s", at + 1, m->order[i].descending ? "descending" : "ascending");
        if (m->order[i].nulls) g_string_append(out, m->order[i].nulls < 0 ? " nulls first" : " nulls last");
    }
    g_string_append(out, end);
}

static void print_limit(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    if (!m->limit && !m->offset) return;
    begin_line(out, indent, "limit");
    g_string_append_printf(out, "%s%s", m->limit ? m->limit : "all", m->ties ? " with ties" : "");
    if (m->offset) g_string_append_printf(out, " from row %s", m->offset);
    g_string_append(out, end);
}

/* Prints the relations that are read as tables, and the sides of a set operation, indented by two more columns. */
static void print_inner(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    char *deeper = *indent ? g_strdup_printf("%s  ", indent) : g_strdup("");
    for (uint32_t i = 0; i < m->n_sources; i++) {
        if (!m->sources[i].relation) continue;
        begin_line(out, indent, m->sources[i].name);
        g_string_append(out, *indent ? "is\n" : "is ");
        print_parts(out, m->sources[i].relation, deeper, end);
    }
    for (uint32_t i = 0; i < m->n_sides; i++) {
        g_string_append_printf(out, *indent ? "%sside\n" : "%sside ", *indent ? indent + 1 : "");
        print_parts(out, m->sides[i], deeper, end);
    }
    g_free(deeper);
}

static void print_parts(GString *out, const struct meaning *m, const char *indent, const char *end)
{
    if (m->set) {
        begin_line(out, indent, "set");
        g_string_append_printf(out, "%s%s", m->set, end);
    } else {
        print_sources(out, m, indent, end);
        print_conditions(out, m->conditions, m->n_conditions, "join", 1, indent, end);
        print_conditions(out, m->conditions, m->n_conditions, "where", 0, indent, end);
        print_grain(out, m, indent, end);
        print_conditions(out, m->group_conditions, m->n_group_conditions, "having", -1, indent, end);
        print_outputs(out, m, indent, end);
    }
    print_order(out, m, indent, end);
    print_limit(out, m, indent, end);
    print_inner(out, m, indent, end);
}

char *meaning_print(struct arena *arena, const struct meaning *meaning)
{
    GString *out = g_string_new(NULL);
    print_parts(out, meaning, "\t", "\n"); /* an indent begins with a tab; an empty indent means one line */
    char *copy = arena_strndup(arena, out->str, out->len);
    g_string_free(out, TRUE);
    return copy;
}
