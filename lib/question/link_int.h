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
    bool *reads;                                            /* by table number: true if the query reads the table */
    uint8_t *uses;                                          /* by column id: bits 1 << role of the column's uses; the
                                                             * bit of LINK_LITERAL marks joins and other uses */
    const struct text_token *literal_words[LINK_MAX_SLOTS]; /* by slot: the word of a literal; else NULL */
};

/* A possible pair of a word and a slot, with its gain. */
struct link_edge {
    uint8_t word, slot, kind;
    float strength, gain;
};
enum { LINK_MAX_EDGES = 1024 };

/* Returns the kind of link for a relation of the lexicon; LINK_NONE for opposites. */
enum link_kind link_kind_of(enum text_relation_kind relation);
/* Fills the weights of the words of a name. Words of the owner's name (may be NULL), function words and numbers weigh
 * less. Returns the number of weights, at most LINK_MAX_NAME. */
uint32_t link_weigh(const struct text_tokens *words, const struct text_tokens *owner, float weight[LINK_MAX_NAME]);
/* Returns how near a word is to the nearest cue of these kinds: 1 for an adjacent word, less for each word between
 * them. Returns 0 if there is no such cue. */
float link_near_cue(const struct link_question *question, uint32_t word, unsigned kinds);

/* Chooses at most one edge for each word and for each slot, so that the sum of gains is greatest. best[word] gets an
 * index into `edges`, or -1. Returns false if the arena is full. */
bool link_assign(struct arena *arena, const struct link_edge *edges, uint32_t n, int best[LINK_MAX_WORDS]);

void link_collect(struct link_maker *maker); /* collects the parts and their slots */
bool link_pair(struct link_maker *maker);    /* pairs words with slots; returns false if the arena is full */
void link_rivals(struct link_maker *maker);  /* scores the columns, and finds the rivals of each */

#endif
