/* Converts the files of WordNet (wndb(5WN)) to words and links.
 *
 * The index files list the senses of each lemma, most used first. The data files have the synsets, with members and
 * pointers to other synsets. The members of a synset become synonyms. Pointers become links, each with a kind and a
 * factor for its strength. The weight of a sense combines its count in tagged text with its rank. IS_A links go up
 * several levels, and are weaker at each level. */
#include "lib/text/compile/compile.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 5, MIN_DEPTH = 3, FAR = 1000, WORDNET_TOPS = 3, WORDNET_VERBS = 29, WORDNET_VERBS_END = 44 };

static const double MIN_SHARE = 0.02;
static const double NOUN_WEIGHT = 3; /* factor of noun senses for a word's class, because names of fields are nouns */
static const char POS[] = "nvar";
static const char *const POS_FILE[] = {"noun", "verb", "adj", "adv"};

struct pointer {
    char symbol[3];
    uint32_t target; /* number of the target synset */
    char target_key[10];
    unsigned from, to; /* numbers of the linked lemmas, from 1; 0 means the whole synset */
};

struct member {
    uint32_t word; /* number of the word; UINT32_MAX if it is not a plain word */
    double weight;
};

struct synset {
    GArray *members;  /* of struct member */
    GArray *pointers; /* of struct pointer */
    uint8_t class;
    unsigned depth; /* number of steps below the topmost synset; only for nouns */
};

struct wordnet {
    struct build *build;
    GHashTable *by_key; /* "n02958343" -> number + 1 */
    GPtrArray *synsets;
    GHashTable *counts; /* "lemma%n#sense" -> number of occurrences */
    GHashTable *senses; /* "lemma%n" -> "offset offset ..." as in the index */
};

static struct synset *synset_at(const struct wordnet *net, uint32_t number)
{
    return g_ptr_array_index(net->synsets, number);
}

/* True if the lemma has only letters and hyphens. The words of other lemmas are compared singly. */
static bool is_plain(const char *lemma)
{
    if (strlen(lemma) < 2) return false;
    for (; *lemma; lemma++)
        if (!isalpha((unsigned char)*lemma) && *lemma != '-') return false;
    return true;
}

/* Returns the lemma in lower case, without a marker such as "(p)" after an adjective. */
static char *lemma_of(const char *text)
{
    char *lemma = g_ascii_strdown(text, (gssize)strcspn(text, "("));
    return lemma;
}

static void read_counts(struct wordnet *net, const char *folder)
{
    char **lines = build_lines(folder, "cntlist.rev");
    for (char **line = lines; *line; line++) {
        char lemma[128];
        unsigned type, sense, count;
        if (sscanf(*line, "%127[^%%]%%%u:%*s %u %u", lemma, &type, &sense, &count) != 4 || type < 1 || type > 5)
            continue;
        char *key = g_strdup_printf("%s%%%c#%u", lemma, "nvara"[type - 1], sense);
        unsigned sum = count + GPOINTER_TO_UINT(g_hash_table_lookup(net->counts, key));
        g_hash_table_insert(net->counts, key, GUINT_TO_POINTER(sum));
    }
    g_strfreev(lines);
}

/* Reads an index file. A line has the lemma, part of speech, number of synsets, number n of symbols, n symbols for
 * pointers, number of senses, number of tagged senses, offsets. */
static void read_index(struct wordnet *net, const char *folder, unsigned pos)
{
    char *name = g_strconcat("index.", POS_FILE[pos], NULL);
    char **lines = build_lines(folder, name);
    for (char **line = lines; *line; line++) {
        if (**line == ' ' || !**line) continue;
        char **words = g_strsplit(g_strchomp(*line), " ", -1);
        unsigned n = (unsigned)atoi(words[2]), first = 6 + (unsigned)atoi(words[3]);
        if (g_strv_length(words) != first + n) build_fail("not an index of WordNet 3.0", name);
        g_hash_table_insert(net->senses, g_strdup_printf("%s%%%c", words[0], POS[pos]), g_strjoinv(" ", words + first));
        g_strfreev(words);
    }
    g_strfreev(lines);
    g_free(name);
}

/* Returns the weight of a sense: its count plus a value for its rank. */
static double sense_weight(const struct wordnet *net, const char *lemma, unsigned pos, const char *offset, double *seen)
{
    char *key = g_strdup_printf("%s%%%c", lemma, POS[pos]);
    const char *all = g_hash_table_lookup(net->senses, key), *found = all ? strstr(all, offset) : NULL;
    g_free(key);
    if (!found) return 0;
    unsigned sense = (unsigned)(found - all) / 9 + 1;
    key = g_strdup_printf("%s%%%c#%u", lemma, POS[pos], sense);
    *seen = GPOINTER_TO_UINT(g_hash_table_lookup(net->counts, key));
    g_free(key);
    return *seen + 1.0 / sense;
}

static void add_member(struct wordnet *net, struct synset *synset, const char *text, unsigned pos, const char *offset)
{
    struct member member = {UINT32_MAX, 0};
    char *lemma = lemma_of(text);
    if (is_plain(lemma)) {
        double seen = 0;
        member.weight = sense_weight(net, lemma, pos, offset, &seen);
        member.word = build_word_of(net->build, lemma);
        struct build_word *word = build_word_at(net->build, member.word);
        word->total += member.weight;
        word->count += seen;
        double weight = pos == 0 ? NOUN_WEIGHT * member.weight : member.weight;
        if (weight > word->class_weight) {
            word->class_weight = weight;
            word->class = synset->class;
        }
    }
    g_array_append_val(synset->members, member);
    g_free(lemma);
}

/* Returns the class of a synset. WordNet keeps the topmost nouns in a file of their own, so the class of these follows
 * from their lemma. */
static uint8_t class_of(int file, const char *lemma)
{
    static const struct {
        const char *lemma;
        enum text_word_class class;
    } TOPS[] = {
        {"person", TEXT_CLASS_PERSON},    {"animal", TEXT_CLASS_ANIMAL},         {"artifact", TEXT_CLASS_ARTIFACT},
        {"event", TEXT_CLASS_EVENT},      {"group", TEXT_CLASS_GROUP},           {"location", TEXT_CLASS_LOCATION},
        {"measure", TEXT_CLASS_QUANTITY}, {"possession", TEXT_CLASS_POSSESSION}, {"time", TEXT_CLASS_TIME},
    };
    for (unsigned i = 0; file == WORDNET_TOPS && i < G_N_ELEMENTS(TOPS); i++)
        if (strcmp(lemma, TOPS[i].lemma) == 0) return (uint8_t)TOPS[i].class;
    return (uint8_t)file;
}

/* Reads a synset. A line has the offset, file number, part of speech, number of words, words with ids, number of
 * pointers, and four words for each pointer. */
static void read_synset(struct wordnet *net, char *line, unsigned pos)
{
    char **words = g_strsplit(line, " ", -1);
    struct synset *synset = g_new0(struct synset, 1);
    synset->members = g_array_new(FALSE, FALSE, sizeof(struct member));
    synset->pointers = g_array_new(FALSE, FALSE, sizeof(struct pointer));
    synset->class = class_of(atoi(words[1]), words[4]);
    synset->depth = FAR;
    unsigned n = (unsigned)strtoul(words[3], NULL, 16);
    for (unsigned i = 0; i < n; i++) add_member(net, synset, words[4 + 2 * i], pos, words[0]);
    char **at = words + 4 + (size_t)(2 * n) + 1;
    for (unsigned i = (unsigned)atoi(at[-1]); i-- > 0; at += 4) {
        struct pointer pointer = {.from = (unsigned)strtoul(at[3], NULL, 16) >> 8,
                                  .to = (unsigned)strtoul(at[3], NULL, 16) & 0xFF};
        g_strlcpy(pointer.symbol, at[0], sizeof pointer.symbol);
        g_snprintf(pointer.target_key, sizeof pointer.target_key, "%c%s", at[2][0] == 's' ? 'a' : at[2][0], at[1]);
        g_array_append_val(synset->pointers, pointer);
    }
    g_ptr_array_add(net->synsets, synset);
    g_hash_table_insert(net->by_key, g_strdup_printf("%c%s", POS[pos], words[0]), GUINT_TO_POINTER(net->synsets->len));
    g_strfreev(words);
}

static void read_data(struct wordnet *net, const char *folder, unsigned pos)
{
    char *name = g_strconcat("data.", POS_FILE[pos], NULL);
    char **lines = build_lines(folder, name);
    for (char **line = lines; *line; line++)
        if (**line != ' ' && **line) read_synset(net, *line, pos);
    g_strfreev(lines);
    g_free(name);
}

static void resolve(struct wordnet *net)
{
    for (unsigned i = 0; i < net->synsets->len; i++) {
        GArray *pointers = synset_at(net, i)->pointers;
        for (unsigned p = 0; p < pointers->len; p++) {
            struct pointer *pointer = &g_array_index(pointers, struct pointer, p);
            uint32_t target = GPOINTER_TO_UINT(g_hash_table_lookup(net->by_key, pointer->target_key));
            if (!target) build_fail("a pointer to nothing", pointer->target_key);
            pointer->target = target - 1;
        }
    }
}

static unsigned depth_of(struct wordnet *net, uint32_t number)
{
    struct synset *synset = synset_at(net, number);
    if (synset->depth != FAR) return synset->depth;
    unsigned best = FAR;
    synset->depth = FAR - 1; /* ends the recursion if there is a cycle */
    for (unsigned p = 0; p < synset->pointers->len; p++) {
        const struct pointer *pointer = &g_array_index(synset->pointers, struct pointer, p);
        if (pointer->symbol[0] != '@') continue;
        unsigned depth = depth_of(net, pointer->target) + 1;
        if (depth < best) best = depth;
    }
    return synset->depth = best == FAR ? 0 : best;
}

static double share(const struct wordnet *net, const struct member *member)
{
    return member->weight / build_word_at(net->build, member->word)->total;
}

static void link_members(struct wordnet *net, const struct member *a, const struct member *b,
                         enum text_relation_kind kind, double worth)
{
    if (a->word == UINT32_MAX || b->word == UINT32_MAX) return;
    double pa = share(net, a), pb = share(net, b);
    if (pa >= MIN_SHARE && pb >= MIN_SHARE) build_relate(net->build, a->word, b->word, kind, worth * sqrt(pa * pb));
}

/* Links each member of a synset with each member of another. If `from` or `to` is not 0, only the member with that
 * number (from 1) is linked. */
static void link_synsets(struct wordnet *net, const struct synset *a, unsigned from, const struct synset *b,
                         unsigned to, enum text_relation_kind kind, double worth)
{
    for (unsigned i = 0; i < a->members->len; i++)
        for (unsigned j = 0; j < b->members->len; j++)
            if ((!from || i + 1 == from) && (!to || j + 1 == to))
                link_members(net, &g_array_index(a->members, struct member, i),
                             &g_array_index(b->members, struct member, j), kind, worth);
}

static bool is_verb(const struct synset *synset)
{
    return synset->class >= WORDNET_VERBS && synset->class < WORDNET_VERBS_END;
}

/* Links a synset with the synsets above it, up to a few steps. Each step is weaker than the previous one. Synsets near
 * the top ("entity", "group") are too general, so they get no links. */
static void link_above(struct wordnet *net, const struct synset *synset, uint32_t above, unsigned step)
{
    struct synset *target = synset_at(net, above);
    bool verb = is_verb(synset);
    if (step > (verb ? 1 : MAX_STEPS)) return;
    if (verb || depth_of(net, above) >= MIN_DEPTH)
        link_synsets(net, synset, 0, target, 0, TEXT_RELATION_IS_A, (verb ? 0.5 : 0.9) * pow(0.75, step - 1.0));
    for (unsigned p = 0; p < target->pointers->len; p++) {
        const struct pointer *pointer = &g_array_index(target->pointers, struct pointer, p);
        if (pointer->symbol[0] == '@') link_above(net, synset, pointer->target, step + 1);
    }
}

static const struct {
    const char *symbol;
    enum text_relation_kind kind;
    double worth;
} POINTERS[] = {
    {"+", TEXT_RELATION_DERIVED, 0.85},   {"\\", TEXT_RELATION_DERIVED, 0.85}, {"&", TEXT_RELATION_SYNONYM, 0.6},
    {"=", TEXT_RELATION_ATTRIBUTE, 0.75}, {"!", TEXT_RELATION_OPPOSITE, 0.9},
};

/* True if the synset is an instance: France is one of the countries, not a kind of country. */
static bool is_instance(const struct synset *synset)
{
    for (unsigned p = 0; p < synset->pointers->len; p++)
        if (strcmp(g_array_index(synset->pointers, struct pointer, p).symbol, "@i") == 0) return true;
    return false;
}

static void link_pointer(struct wordnet *net, const struct synset *synset, const struct pointer *pointer)
{
    const struct synset *target = synset_at(net, pointer->target);
    if (pointer->symbol[0] == '@') link_above(net, synset, pointer->target, 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(POINTERS); i++) {
        if (strcmp(pointer->symbol, POINTERS[i].symbol) != 0) continue;
        if (pointer->symbol[0] == '&' && target < synset) continue; /* avoids counting each pair twice */
        bool place = pointer->symbol[0] == '\\' && is_instance(target) && target->class == TEXT_CLASS_LOCATION;
        link_synsets(net, synset, pointer->from, target, pointer->to, place ? TEXT_RELATION_DEMONYM : POINTERS[i].kind,
                     POINTERS[i].worth);
    }
}

void wordnet_read(struct build *build, const char *folder)
{
    struct wordnet net = {build, g_hash_table_new(g_str_hash, g_str_equal), g_ptr_array_new(),
                          g_hash_table_new(g_str_hash, g_str_equal), g_hash_table_new(g_str_hash, g_str_equal)};
    read_counts(&net, folder);
    for (unsigned pos = 0; pos < G_N_ELEMENTS(POS_FILE); pos++) read_index(&net, folder, pos);
    for (unsigned pos = 0; pos < G_N_ELEMENTS(POS_FILE); pos++) read_data(&net, folder, pos);
    resolve(&net);
    for (unsigned i = 0; i < net.synsets->len; i++) {
        const struct synset *synset = synset_at(&net, i);
        for (unsigned a = 0; a < synset->members->len; a++)
            for (unsigned b = 0; b < a; b++)
                link_members(&net, &g_array_index(synset->members, struct member, a),
                             &g_array_index(synset->members, struct member, b), TEXT_RELATION_SYNONYM,
                             is_verb(synset) ? 0.65 : 0.95);
        for (unsigned p = 0; p < synset->pointers->len; p++)
            link_pointer(&net, synset, &g_array_index(synset->pointers, struct pointer, p));
    }
}
