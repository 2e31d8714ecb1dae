/* Compares many words with many: struct text_word_set of lib/text/lexicon.h.
 *
 * A stored word is entered under its own number and under the numbers of its linked words. A queried word is looked up
 * under its own number. Its IS_A links are also looked up, because the links of the stored word do not list its
 * kinds. */
#include "lib/text/internal.h"
#include "lib/text/lexicon.h"

#include <string.h>

enum { SET_MAX_WORDS = 65535, OWN_WORDS = 16 };

struct set_entry {
    struct text_link link;
    uint32_t tag;
    const struct set_entry *next; /* next in the same bucket */
};

struct text_word_set {
    struct arena *arena;
    const struct set_entry **buckets;
    uint32_t mask, n, room;
    uint64_t own[OWN_WORDS]; /* hashed set of the stored words' numbers, as bits; excludes most other words */
};

struct text_word_set *text_word_set_new(struct arena *arena, uint32_t room)
{
    struct text_word_set *set = arena_new(arena, struct text_word_set);
    if (room > SET_MAX_WORDS) room = SET_MAX_WORDS;
    uint32_t size = 64;
    while (size < room * 16) size *= 2;
    if (!set) return NULL;
    *set = (struct text_word_set){.arena = arena, .mask = size - 1, .room = room};
    set->buckets = arena_alloc(arena, size * sizeof(struct set_entry *));
    if (!set->buckets) return NULL;
    memset(set->buckets, 0, size * sizeof(struct set_entry *));
    return set;
}

static const struct set_entry **bucket_of(const struct text_word_set *set, uint32_t word)
{
    return &set->buckets[(word * 2654435761U >> 7) & set->mask];
}

void text_word_set_put(struct text_word_set *set, uint32_t word, uint32_t tag)
{
    struct text_link links[TEXT_MAX_LINKS + 1];
    if (word == TEXT_NO_WORD || set->n == set->room) return;
    unsigned n = text_lexicon_links(word, links, TEXT_MAX_LINKS);
    struct set_entry *entries = arena_alloc(set->arena, (n + 1) * sizeof *entries);
    if (!entries) return;
    set->n++;
    set->own[word / 64 % OWN_WORDS] |= 1ULL << word % 64;
    links[n++] = (struct text_link){word, {TEXT_RELATION_SAME, 1}};
    for (unsigned i = 0; i < n; i++) {
        const struct set_entry **bucket = bucket_of(set, links[i].word);
        entries[i] = (struct set_entry){links[i], tag, *bucket};
        *bucket = &entries[i];
    }
}

void text_word_set_add(struct text_word_set *set, const char *stem, uint32_t tag)
{
    text_word_set_put(set, text_lexicon_stem(stem), tag);
}

struct match_list {
    struct text_word_match *items;
    unsigned n, room;
};

/* Inserts a match so that the list stays sorted, best first. Of two matches with the same tag, only the better one
 * remains. */
static void add_match(struct match_list *list, uint32_t tag, struct text_relation relation)
{
    unsigned at = 0;
    while (at < list->n && list->items[at].tag != tag) at++;
    if (at < list->n && list->items[at].relation.strength >= relation.strength) return;
    if (at == list->n && list->n < list->room) list->n++;
    if (at == list->room && (!at || list->items[--at].relation.strength >= relation.strength)) return;
    for (; at > 0 && list->items[at - 1].relation.strength < relation.strength; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = (struct text_word_match){tag, relation};
}

static bool wanted(unsigned kinds, enum text_relation_kind kind)
{
    return kinds >> kind & 1U;
}

/* Finds the words in the set of which the queried word is a kind. */
static void find_above(const struct text_word_set *set, uint32_t word, struct match_list *list)
{
    uint32_t n;
    const uint32_t *up = lexicon_links(word, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t above = up[i] >> 12;
        if (!(set->own[above / 64 % OWN_WORDS] >> above % 64 & 1)) continue;
        struct text_link link = lexicon_unpack(up[i]);
        if (link.relation.kind != TEXT_RELATION_IS_A) continue;
        link.relation.kind = TEXT_RELATION_HAS_KIND;
        for (const struct set_entry *e = *bucket_of(set, above); e; e = e->next)
            if (e->link.word == above && e->link.relation.kind == TEXT_RELATION_SAME)
                add_match(list, e->tag, link.relation);
    }
}

unsigned text_word_set_find(const struct text_word_set *set, uint32_t word, unsigned kinds,
                            struct text_word_match *matches, unsigned room)
{
    struct match_list list = {matches, 0, room};
    if (word == TEXT_NO_WORD || !set->n) return 0;
    for (const struct set_entry *e = *bucket_of(set, word); e; e = e->next)
        if (e->link.word == word && wanted(kinds, e->link.relation.kind)) add_match(&list, e->tag, e->link.relation);
    if (wanted(kinds, TEXT_RELATION_HAS_KIND)) find_above(set, word, &list);
    return list.n;
}

unsigned text_word_set_match(const struct text_word_set *set, const char *stem, unsigned kinds,
                             struct text_word_match *matches, unsigned room)
{
    return text_word_set_find(set, text_lexicon_stem(stem), kinds, matches, room);
}
