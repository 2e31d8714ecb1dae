#include "eval/diff.h"

#include <string.h>

enum { FIRST_SLOTS = 1024 };

void diff_ids_init(struct diff_ids *ids)
{
    *ids = (struct diff_ids){.n_slots = FIRST_SLOTS, .seed = (uint64_t)g_random_int() << 32 | g_random_int()};
    ids->slots = g_new0(uint32_t, ids->n_slots);
}

void diff_ids_free(struct diff_ids *ids)
{
    g_free(ids->all);
    g_free(ids->slots);
    *ids = (struct diff_ids){0};
}

/* Returns the slot of the hash, or the free slot for it if the table lacks it. */
static uint32_t *slot_of(const struct diff_ids *ids, XXH128_hash_t hash)
{
    uint32_t at = (uint32_t)hash.low64 & (ids->n_slots - 1);
    while (ids->slots[at] && !XXH128_isEqual(ids->all[ids->slots[at] - 1].hash, hash))
        at = (at + 1) & (ids->n_slots - 1);
    return &ids->slots[at];
}

/* Makes space for one more entry. At most half of the slots are used, so that searches stay short. */
static void grow(struct diff_ids *ids)
{
    if (!ids->all || ids->n == ids->room) {
        ids->room = MAX(FIRST_SLOTS / 2, ids->room + ids->room / 2);
        ids->all = g_renew(struct diff_id, ids->all, ids->room);
    }
    if (ids->n < ids->n_slots / 2) return;
    g_free(ids->slots);
    ids->n_slots *= 2;
    ids->slots = g_new0(uint32_t, ids->n_slots);
    for (uint32_t i = 0; i < ids->n; i++) *slot_of(ids, ids->all[i].hash) = i + 1;
}

static XXH128_hash_t hash_of(const struct diff_ids *ids, const char *id)
{
    return XXH3_128bits_withSeed(id, strlen(id), ids->seed);
}

struct diff_id *diff_ids_find(const struct diff_ids *ids, const char *id)
{
    uint32_t slot = *slot_of(ids, hash_of(ids, id));
    return slot ? &ids->all[slot - 1] : NULL;
}

struct diff_id *diff_ids_take(struct diff_ids *ids, const char *id, bool *fresh)
{
    struct diff_id *known = diff_ids_find(ids, id);
    *fresh = !known;
    if (known) return known;
    if (ids->n == DIFF_MAX_IDS) return NULL;
    grow(ids);
    struct diff_id *made = &ids->all[ids->n];
    *made = (struct diff_id){.hash = hash_of(ids, id)};
    *slot_of(ids, made->hash) = ++ids->n;
    return made;
}
