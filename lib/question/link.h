/* Linking: which part of a query stands for which word of the question, and what is left over on either side.
 *
 * The question's side is made once a request (question_read): its content words, and for each table and column the
 * words that may mean a word of its name. The query's side is made once a candidate: its *parts* (a column in a role, a
 * literal, a table, an operation), each with *slots*, the words that its name is made of. One assignment, the best in
 * sum, pairs words and slots one to one. Greedy pairing was tried on paper and left: "the name of the country" against
 * country.name and country.country_name depends on which column is looked at first.
 *
 * What no slot took is an *unanswered* word; a part none of whose slots anything says is *unasked*. For each column
 * there is also the best *rival*: a column that the query does not use in that role and that the words at that place of
 * the question name better.
 *
 * All is bounded: LINK_MAX_WORDS words, LINK_MAX_PARTS parts, LINK_MAX_SLOTS slots; what is beyond is not looked at.
 * Nothing keeps state; any thread may call. */
#ifndef ASSAY_LIB_QUESTION_LINK_H
#define ASSAY_LIB_QUESTION_LINK_H

#include "lib/question/question.h"

enum { LINK_MAX_WORDS = 64, LINK_MAX_PARTS = 48, LINK_MAX_SLOTS = 96, LINK_MAX_NAME = 8 };

/* How a word means what it is linked to, the weakest first. */
#define LINK_KINDS(X)                                                                                                  \
    X(NONE, "none")                                                                                                    \
    X(TOLD, "evidence")                                                                                                \
    X(OPERATOR, "operator")                                                                                            \
    X(CODE, "code")                                                                                                    \
    X(ATTRIBUTE, "attribute")                                                                                          \
    X(IS_A, "is-a")                                                                                                    \
    X(DERIVED, "derived")                                                                                              \
    X(SYNONYM, "synonym")                                                                                              \
    X(VALUE, "value")                                                                                                  \
    X(NAME, "name")
enum link_kind {
#define X(kind, name) LINK_##kind,
    LINK_KINDS(X)
#undef X
        LINK_KIND_COUNT
};

/* What a part of a query is there for. Those up to LINK_ARGUMENT are of columns. */
#define LINK_ROLES(X)                                                                                                  \
    X(ANSWER, "answer")                                                                                                \
    X(CONDITION, "condition")                                                                                          \
    X(GROUP, "group")                                                                                                  \
    X(ORDER, "order")                                                                                                  \
    X(ARGUMENT, "argument")                                                                                            \
    X(LITERAL, "value")                                                                                                \
    X(TABLE, "table")                                                                                                  \
    X(OPERATION, "operation")
enum link_role {
#define X(role, name) LINK_##role,
    LINK_ROLES(X)
#undef X
        LINK_ROLE_COUNT,
    LINK_COLUMN_ROLES = LINK_LITERAL
};

const char *link_kind_name(enum link_kind kind);
const char *link_role_name(enum link_role role);

/* A word of the question that may stand for something. */
struct link_word {
    uint32_t token;
    float weight;     /* what it would matter if nothing answered it: 0 for small words */
    int value;        /* the question's value that it is a word of; -1 */
    int cue;          /* the cue that it is a word of; -1 */
    uint32_t meaning; /* its number in the lexicon (lib/text/lexicon.h) */
    bool modifies;    /* it stands before a word for a thing: "open" in "open orders" */
    float named;      /* how well it means any name of the schema, 0 to 1 */
};

/* A word of the question that may mean a word of a name. */
struct link_hit {
    uint8_t word, slot; /* index of the word, position in the name */
    uint8_t kind;       /* enum link_kind */
    float strength;
};

struct link_name {
    const struct link_hit *hits;
    uint32_t n;
};

/* The question's side. */
struct link_question {
    const struct schema_index *schema;
    const struct question *question;
    struct link_word words[LINK_MAX_WORDS];
    uint32_t n_words;
    const struct link_name *tables;  /* by table number */
    const struct link_name *columns; /* by column id */
    const uint16_t *linked;          /* ids of the columns that have hits */
    uint32_t n_linked;
    float asked[LINK_MAX_WORDS]; /* is the word in a phrase that asks for an output? */
};

/* A column of the schema at the place of the question where a part stands. */
struct link_rival {
    const struct schema_column *column; /* NULL: none */
    float score;
    bool named; /* by a word that does not ask for a count, and is no word of its table's name */
    bool used;  /* elsewhere in the query */
};

struct link_part {
    enum link_role role;
    const struct sql_node *node;        /* NULL: from a star */
    const struct schema_column *column; /* of the column roles, and what a literal is compared with; NULL */
    int table;                          /* of a table, -1 */
    const char *text;                   /* of a literal or operation */
    unsigned cues;                      /* kinds of cues that ask for it, bits */
    uint32_t first_slot, n_slots;
    float weight, said;          /* of its slots; what of that is answered by a word of its own */
    float shared;                /* answered by a word that another part has, or by the evidence */
    float score;                 /* of a column: how well the words at its place name it */
    float near;                  /* how near the words that name it stand to its role's place, 0 to 1 */
    struct link_rival same, far; /* the best rival of the tables read, and of the others */
    float rival_words;           /* weight of unanswered words that a rival of the tables read would answer */
    bool implied;                /* nothing has to say it: the question says a literal that it is compared with */
    bool held;                   /* and by that alone it is this column: it holds the text, or a year */
    bool grouped;                /* an answer that the rows are grouped by too */
};

struct link_slot {
    uint8_t part, index;
    float weight;
    uint8_t word; /* LINK_NO_WORD */
    uint8_t kind; /* enum link_kind */
    float strength;
};
enum { LINK_NO_WORD = UINT8_MAX };

/* Where one word went. */
struct link_place {
    int part;   /* -1: nowhere */
    bool taken; /* it is the part's own; else another word, or another part, has it as well */
    enum link_kind kind;
    float strength;
};

struct link_query {
    const struct link_question *question;
    struct link_part *parts;
    uint32_t n_parts;
    struct link_slot *slots;
    uint32_t n_slots;
    struct link_place places[LINK_MAX_WORDS]; /* by word */
    /* Joins through a column where the same table has other columns that lead to the same place. */
    float role_score, role_rival;                       /* of the worst such choice; NAN: none */
    const struct schema_column *role_key, *role_better; /* its key, and the one that the words mean rather; NULL */
    const struct sql_node *role_node;                   /* the join's condition */
};

/* Read the question's side. NULL: the arena is full. */
const struct link_question *link_read(struct arena *arena, const struct schema_index *schema,
                                      const struct question *question);

/* Link one bound query; `pairs` are its joins (sql_join_pairs). NULL: the arena is full, or there is no question side. */
const struct link_query *link_make(struct arena *arena, const struct link_question *question,
                                   const struct sql_bound *bound, const struct sql_join_pair *pairs, uint32_t n_pairs);

#endif
