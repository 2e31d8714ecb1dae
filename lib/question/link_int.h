/* What the files of linking share. */
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
    bool *reads;                                            /* by table number */
    uint8_t *uses;                                          /* by column id: bits 1 << enum link_role */
    const struct text_token *literal_words[LINK_MAX_SLOTS]; /* of the slots of literals */
};

/* An edge between a word and a slot, and what taking it is worth. */
struct link_edge {
    uint8_t word, slot, kind;
    float strength, gain;
};
enum { LINK_MAX_EDGES = 1024 };

/* The kind of link that a relation of the lexicon makes; LINK_NONE: none (opposites). */
enum link_kind link_kind_of(enum text_relation_kind relation);
/* What the words of a name weigh, its owner's and small ones less. Count, at most LINK_MAX_NAME. */
uint32_t link_weigh(const struct text_tokens *words, const struct text_tokens *owner, float weight[LINK_MAX_NAME]);
/* How near a word stands to the nearest cue of these kinds: 1 beside it, less with each word between; 0: no such cue. */
float link_near_cue(const struct link_question *question, uint32_t word, unsigned kinds);

/* Which edge each word takes, so that no slot is taken twice and the sum of gains is the greatest: best[word] is an index
 * into edges, -1: none. False: the arena is full. */
bool link_assign(struct arena *arena, const struct link_edge *edges, uint32_t n, int best[LINK_MAX_WORDS]);

void link_collect(struct link_maker *maker); /* the parts and their slots */
bool link_pair(struct link_maker *maker);    /* edges, the assignment, what is said and answered */
void link_rivals(struct link_maker *maker);  /* scores and rivals of columns */

#endif
