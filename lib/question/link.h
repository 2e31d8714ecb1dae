/* Links words of a question to parts of a query, one to one. Also finds the words and the parts that have no link.
 *
 * The question's side is made once for each request (question_read). It has the content words. For each table and
 * column, it also has the words that may mean a word of its name. The query's side is made once for each candidate. It
 * has the *parts*: a column in a role, a literal, a table or an operation. Each part has *slots*, the words of its
 * name. The assignment pairs words with slots so that the sum of gains is greatest.
 *
 * A word without a slot is *unanswered*. A part is *unasked* if no word means any of its slots. A *rival* of a column
 * is another column, which the query does not use in the same role. The question names the rival better, with the words
 * near the place where it requests that role.
 *
 * Rejected: greedy pairing, because its result depends on the order of the columns. An example is "the name of the
 * country" with the columns country.name and country.country_name.
 *
 * Limits: LINK_MAX_WORDS words, LINK_MAX_PARTS parts, LINK_MAX_SLOTS slots; the rest is ignored. The functions keep no
 * state. Thread: any. */
#ifndef ASSAY_LIB_QUESTION_LINK_H
#define ASSAY_LIB_QUESTION_LINK_H

#include "lib/question/question.h"

enum { LINK_MAX_WORDS = 64, LINK_MAX_PARTS = 48, LINK_MAX_SLOTS = 96, LINK_MAX_NAME = 8 };

/* The relation of a word to the part that it is linked to, from the weakest to the strongest. */
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

/* The role of a part in the query. Roles up to LINK_ARGUMENT are those of columns. */
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

/* A word of the question that may be linked. */
struct link_word {
    uint32_t token;
    float weight;     /* importance of the word if it is unanswered; 0 for a function word */
    int value;        /* index of the value that contains it, or -1 */
    int cue;          /* index of the cue that contains it, or -1 */
    uint32_t meaning; /* number of the word in the lexicon (lib/text/lexicon.h) */
    bool modifies;    /* true if it precedes a noun that it describes: "open" in "open orders" */
    float named;      /* strength of the word's best link to a name of the schema, 0 to 1 */
};

/* A word of the question that may mean a word of a table's or column's name. */
struct link_hit {
    uint8_t word, slot; /* index of the question's word; position of the name's word */
    uint8_t kind;       /* enum link_kind */
    float strength;
};

struct link_name {
    const struct link_hit *hits;
    uint32_t n;
};

/* The question's side of the links. */
struct link_question {
    const struct schema_index *schema;
    const struct question *question;
    struct link_word words[LINK_MAX_WORDS];
    uint32_t n_words;
    const struct link_name *tables;  /* by table number */
    const struct link_name *columns; /* by column id */
    const uint16_t *linked;          /* ids of the columns that have hits */
    uint32_t n_linked;
    float asked[LINK_MAX_WORDS]; /* 1 if the word is in a requested output, else 0 */
};

/* The column that could best replace a part, judged by the words at the part's place in the question. */
struct link_rival {
    const struct schema_column *column; /* NULL if there is none */
    float score;
    bool named; /* true if some word names it that neither asks for a count nor belongs to its table's name */
    bool used;  /* true if the query uses the rival elsewhere */
};

struct link_part {
    enum link_role role;
    const struct sql_node *node;        /* NULL for a column that a * stands for */
    const struct schema_column *column; /* the column of a column role, or the column compared with a literal; else
                                         * NULL */
    int table;                          /* number of the table or of the column's table, or -1 */
    const char *text;                   /* the literal, or the name of the operation */
    unsigned cues;                      /* bits 1U << kind of the cues that ask for it */
    uint32_t first_slot, n_slots;
    float weight, said;          /* weight of all slots; share of it that the question answers by words linked to this
                                  * part alone */
    float shared;                /* share of `weight` that words linked to another part, or the evidence, answer */
    float score;                 /* for a column: how well the words at its place in the question name it */
    float near;                  /* how close the word that names it is to the words for its role, 0 to 1 */
    struct link_rival same, far; /* best rival in the tables that the query reads; best rival in other tables */
    float rival_words;           /* greatest weight of unanswered words that one rival in the query's tables would
                                  * answer */
    bool implied;                /* true if the question says a literal compared with the column, so no word needs to
                                  * name it */
    bool held;                   /* true if that literal alone identifies the column, because it is a text or a year */
    bool grouped;                /* true if the column is in the answer and is also a key of GROUP BY */
};

struct link_slot {
    uint8_t part, index;
    float weight;
    uint8_t word; /* index of the question's word, or LINK_NO_WORD */
    uint8_t kind; /* enum link_kind */
    float strength;
};
enum { LINK_NO_WORD = UINT8_MAX };

/* The part that a word is linked to. */
struct link_place {
    int part;   /* index of the part; -1 if the word is unanswered */
    bool taken; /* true if the word is paired with a slot; false if it only shares a slot */
    enum link_kind kind;
    float strength;
};

struct link_query {
    const struct link_question *question;
    struct link_part *parts;
    uint32_t n_parts;
    struct link_slot *slots;
    uint32_t n_slots;
    struct link_place places[LINK_MAX_WORDS]; /* by index of the word */
    /* The most doubtful choice of a join key: other columns of the key's table lead to the same joined table. The
     * scores are NAN if there is no such join. */
    float role_score, role_rival;                       /* score of the used key; score of its best alternative */
    const struct schema_column *role_key, *role_better; /* the used key; its best alternative; NULL if there is none */
    const struct sql_node *role_node;                   /* condition of the join */
};

/* Reads the question's side. Returns NULL if the arena is full. The schema and the question must outlive the result. */
const struct link_question *link_read(struct arena *arena, const struct schema_index *schema,
                                      const struct question *question);

/* Links a bound query. `pairs` are its joins (sql_join_pairs). Returns NULL if the arena is full or `question` is
 * NULL. */
const struct link_query *link_make(struct arena *arena, const struct link_question *question,
                                   const struct sql_bound *bound, const struct sql_join_pair *pairs, uint32_t n_pairs);

#endif
