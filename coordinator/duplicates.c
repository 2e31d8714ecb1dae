/* DESIGN: each partition has a ring of its last DUPLICATES_WINDOW requests, 48 bytes each. Chains through the ring
 * connect requests whose ids have the same hash. An entry is removed when a new one takes its slot. It no longer counts
 * once its offset is more than DUPLICATES_WINDOW below the current one. The memory is therefore fixed: 224 KiB for each
 * partition. Hashes of 128 bits represent ids and bytes. */
#include "coordinator/duplicates.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUCKETS = 4096, NONE = UINT16_MAX };
_Static_assert((int)DUPLICATES_WINDOW < (int)NONE, "a place fits into 16 bits");

struct entry {
    XXH128_hash_t id, bytes;
    int64_t offset;
    uint16_t next; /* next older entry of the same bucket */
    uint16_t bucket;
};

struct partition {
    uint32_t n, at; /* number of entries; slot of the next entry */
    uint16_t buckets[BUCKETS];
    struct entry entries[DUPLICATES_WINDOW];
};

struct duplicates {
    GHashTable *partitions; /* partition number → struct partition */
};

struct duplicates *duplicates_new(void)
{
    struct duplicates *duplicates = calloc(1, sizeof *duplicates);
    if (duplicates) duplicates->partitions = g_hash_table_new_full(NULL, NULL, NULL, free);
    return duplicates;
}

void duplicates_free(struct duplicates *duplicates)
{
    if (!duplicates) return;
    g_hash_table_destroy(duplicates->partitions);
    free(duplicates);
}

void duplicates_forget(struct duplicates *duplicates, int32_t partition)
{
    g_hash_table_remove(duplicates->partitions, GINT_TO_POINTER(partition));
}

static struct partition *partition_get(struct duplicates *duplicates, int32_t number)
{
    struct partition *found = g_hash_table_lookup(duplicates->partitions, GINT_TO_POINTER(number));
    if (found) return found;
    found = calloc(1, sizeof *found);
    if (!found) return NULL;
    memset(found->buckets, 0xff, sizeof found->buckets);
    g_hash_table_insert(duplicates->partitions, GINT_TO_POINTER(number), found);
    return found;
}

static bool same(XXH128_hash_t a, XXH128_hash_t b)
{
    return XXH128_isEqual(a, b) != 0;
}

/* Searches for an earlier entry with the same bytes, or else with the same id. An entry with the same offset is the
 * request itself, delivered again; *is_known is then true. */
static enum duplicates_answer find_earlier(const struct partition *partition, const struct entry *entry, bool *is_known)
{
    enum duplicates_answer answer = DUPLICATES_NONE;
    for (uint16_t at = partition->buckets[entry->bucket]; at != NONE; at = partition->entries[at].next) {
        const struct entry *before = &partition->entries[at];
        if (!same(before->id, entry->id)) continue;
        if (before->offset == entry->offset) *is_known = true;
        if (before->offset >= entry->offset || entry->offset - before->offset > DUPLICATES_WINDOW) continue;
        if (same(before->bytes, entry->bytes)) return DUPLICATES_SAME;
        answer = DUPLICATES_OTHER;
    }
    return answer;
}

/* Removes the oldest entry, which is the last one of its chain. */
static void drop_oldest(struct partition *partition, uint16_t place)
{
    uint16_t *link = &partition->buckets[partition->entries[place].bucket];
    while (*link != place) link = &partition->entries[*link].next;
    *link = NONE;
}

static void add(struct partition *partition, struct entry *entry)
{
    uint16_t place = (uint16_t)partition->at;
    if (partition->n == DUPLICATES_WINDOW)
        drop_oldest(partition, place);
    else
        partition->n++;
    entry->next = partition->buckets[entry->bucket];
    partition->entries[place] = *entry;
    partition->buckets[entry->bucket] = place;
    partition->at = (partition->at + 1) % DUPLICATES_WINDOW;
}

enum duplicates_answer duplicates_check(struct duplicates *duplicates, struct msg_key key, const char *id,
                                        const void *bytes, size_t len)
{
    struct partition *partition = partition_get(duplicates, key.partition);
    if (!partition) return DUPLICATES_NOMEM;
    struct entry entry = {.id = XXH3_128bits(id, strlen(id)), .bytes = XXH3_128bits(bytes, len), .offset = key.offset};
    entry.bucket = (uint16_t)(entry.id.low64 % BUCKETS);
    bool is_known = false;
    enum duplicates_answer answer = find_earlier(partition, &entry, &is_known);
    if (!is_known) add(partition, &entry);
    return answer;
}
