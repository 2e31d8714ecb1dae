/* Visits all relations and terms of a meaning. */
#include "lib/meaning/meaning.h"

#include <string.h>

struct meaning_walk {
    const struct meaning_visitor *visitor;
    uint32_t steps;
};

static void walk_relation(struct meaning_walk *walk, const struct meaning *m);

bool meaning_is_subquery(const struct meaning_term *term)
{
    return term->kind == MEANING_QUERY && term->relation && !(term->name && *term->name);
}

bool meaning_is_outer(const struct meaning_term *term)
{
    static const char outer[] = "outer ";
    bool named = (term->kind == MEANING_COLUMN || term->kind == MEANING_QUERY) && term->name;
    return named && strncmp(term->name, outer, sizeof outer - 1) == 0;
}

static void walk_terms(struct meaning_walk *walk, const struct meaning *owner, struct meaning_term *const *terms,
                       uint32_t n);

static void walk_term(struct meaning_walk *walk, const struct meaning *owner, const struct meaning_term *term)
{
    if (!term || ++walk->steps > MEANING_MAX_TERMS) return;
    if (walk->visitor->term) walk->visitor->term(walk->visitor->self, owner, term);
    walk_terms(walk, owner, term->parts, term->n_parts);
    walk_term(walk, owner, term->rows);
    if (term->window) {
        walk_terms(walk, owner, term->window->partition, term->window->n_partition);
        for (uint32_t i = 0; i < term->window->n_order; i++) walk_term(walk, owner, term->window->order[i].term);
    }
    if (meaning_is_subquery(term)) walk_relation(walk, term->relation);
}

static void walk_terms(struct meaning_walk *walk, const struct meaning *owner, struct meaning_term *const *terms,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) walk_term(walk, owner, terms[i]);
}

static void walk_relation(struct meaning_walk *walk, const struct meaning *m)
{
    if (!m || ++walk->steps > MEANING_MAX_TERMS) return;
    if (walk->visitor->relation) walk->visitor->relation(walk->visitor->self, m);
    for (uint32_t i = 0; i < m->n_outputs; i++) walk_term(walk, m, m->outputs[i].term);
    walk_terms(walk, m, m->conditions, m->n_conditions);
    walk_terms(walk, m, m->group_conditions, m->n_group_conditions);
    walk_terms(walk, m, m->keys, m->n_keys);
    for (uint32_t i = 0; i < m->n_order; i++) walk_term(walk, m, m->order[i].term);
    for (uint32_t i = 0; i < m->n_sources; i++) walk_term(walk, m, m->sources[i].on);
    for (uint32_t i = 0; i < m->n_sources; i++) walk_relation(walk, m->sources[i].relation);
    for (uint32_t i = 0; i < m->n_sides; i++) walk_relation(walk, m->sides[i]);
}

void meaning_visit(const struct meaning *meaning, const struct meaning_visitor *visitor)
{
    struct meaning_walk walk = {visitor, 0};
    walk_relation(&walk, meaning);
}

const struct meaning_term *meaning_follow(const struct meaning_term *term, const struct meaning **owner)
{
    for (unsigned i = 0; i < MEANING_MAX_DEPTH; i++) {
        bool named = term->kind == MEANING_QUERY && term->name && *term->name && term->relation;
        if (!named || term->relation->set || term->output >= term->relation->n_outputs) return term;
        if (owner) *owner = term->relation;
        term = term->relation->outputs[term->output].term;
    }
    return term;
}
