/* Internal to lib/question/link*.c. */
#ifndef ASSAY_LIB_QUESTION_LINK_INT_H
#define ASSAY_LIB_QUESTION_LINK_INT_H

#include "lib/question/link.h"

struct link_maker {
    struct arena *arena;
    const struct link_question *question;
    const struct sql_bound *bound;
    const struct sql_join_pair *pairs;
    uint32_t n_pairs;
    struct link_query *out;
    bool *reads;                                            /* by table number: true if the query reads it */
    uint8_t *uses;                                          /* by column id: bits 1 << role; LINK_LITERAL for joins and
                                                             * others */
    const struct text_token *literal_words[LINK_MAX_SLOTS]; /* by slot: the literal's word; else NULL */
};

/* A possible pair of a word and a slot, with its gain. */
struct link_edge {
    uint8_t word, slot, kind;
    float strength, gain;
};
enum { LINK_MAX_EDGES = 1024 };

/* Returns the kind of link for a relation of the lexicon; LINK_NONE for opposites. */
enum link_kind link_kind_of(enum text_relation_kind relation);
/* Fills the weights of a name's words. Words of the owner's name (may be NULL), function words and numbers weigh less.
 * Returns their count, at most LINK_MAX_NAME. */
uint32_t link_weigh(const struct text_tokens *words, const struct text_tokens *owner, float weight[LINK_MAX_NAME]);
/* Returns the nearness of a word to the nearest cue of these kinds: 1 beside it, less with each word between. Returns 0
 * without such a cue. */
float link_near_cue(const struct link_question *question, uint32_t word, unsigned kinds);

/* Chooses at most one edge for each word. No slot is taken twice, and the sum of gains is greatest. best[word] gets an
 * index into `edges`, or -1. Returns false if the arena is full. */
bool link_assign(struct arena *arena, const struct link_edge *edges, uint32_t n, int best[LINK_MAX_WORDS]);

void link_collect(struct link_maker *maker); /* collects the parts and their slots */
bool link_pair(struct link_maker *maker);    /* pairs words with slots; returns false if the arena is full */
void link_rivals(struct link_maker *maker);  /* scores the columns and finds their rivals */

#endif
