/* Computes the hash of a relation. Its sources, conditions and keys are already sorted, so their order in the text has
 * no effect. */
#include "lib/meaning/meaning_int.h"

static uint64_t hash_terms(uint64_t hash, struct meaning_term *const *terms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) hash = meaning_mix(hash, terms[i]->hash);
    return meaning_mix(hash, n);
}

static uint64_t hash_source(const struct meaning_source *source)
{
    uint64_t hash =
        meaning_mix(source->join, source->relation ? source->relation->hash : meaning_hash_text(source->name));
    return source->on ? meaning_mix(hash, source->on->hash) : hash;
}

static uint64_t hash_end(const struct meaning *m)
{
    uint64_t hash = meaning_mix(meaning_hash_text(m->limit), meaning_hash_text(m->offset) + m->ties);
    for (uint32_t i = 0; i < m->n_order; i++) {
        const struct meaning_key *key = &m->order[i];
        hash = meaning_mix(hash, meaning_mix(key->term->hash, key->descending * 8U + (unsigned)(key->nulls + 1)));
    }
    return hash;
}

void meaning_rehash(struct meaning *m)
{
    uint64_t hash = meaning_mix(meaning_hash_text(m->set), m->n_sides);
    for (uint32_t i = 0; i < m->n_sides; i++) hash = meaning_mix(hash, m->sides[i]->hash);
    for (uint32_t i = 0; i < m->n_sources; i++) hash = meaning_mix(hash, hash_source(&m->sources[i]));
    hash = hash_terms(hash, m->conditions, m->n_conditions);
    hash = hash_terms(hash, m->group_conditions, m->n_group_conditions);
    hash = hash_terms(meaning_mix(hash, m->grain * 2U + m->distinct), m->keys, m->n_keys);
    for (uint32_t i = 0; !m->set && i < m->n_outputs; i++) hash = meaning_mix(hash, m->outputs[i].term->hash);
    m->hash = meaning_mix(hash, hash_end(m));
}
