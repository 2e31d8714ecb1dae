/* Internal to explain.c and its parts: the state while a statement is narrated, and the functions of each file.
 *
 * DESIGN. The statement is taken apart into queries: itself, the arms of set operations, subqueries, CTEs and derived
 * tables. Each gets a number when it is first mentioned and waits in a queue; its phrases follow those of the query
 * that mentions it. So nesting costs no recursion, and a phrase never holds another query. The verifier can compare the
 * filter of a subquery with the question like any other filter. Rejected: subqueries in place, in parentheses, which
 * read well once and are unreadable twice nested.
 *
 * Only the prose includes the simplest inner queries (one table, one column) where they are mentioned.
 *
 * A phrase is narrated twice, into two buffers, premise and prose, by the same functions: `say.prose` selects the
 * wording. */
#ifndef ASSAY_LIB_EXPLAIN_NARRATOR_H
#define ASSAY_LIB_EXPLAIN_NARRATOR_H

#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/explain/say.h"

enum {
    NARRATE_MAX_PHRASES = 256,
    NARRATE_MAX_QUERIES = 48,
    NARRATE_MAX_COLUMNS = 64, /* of one phrase */
    NARRATE_MAX_NESTING = 40, /* of an expression; deeper parts are quoted from the statement */
    NARRATE_MAX_LIST = 48,    /* entries of an IN list, a select list, ... */
    NARRATE_PHRASE_BYTES = 2048,
    NARRATE_LITERAL_BYTES = 160,
    NARRATE_NAME_BYTES = 64,
    NARRATE_SQL_BYTES = 240, /* of the statement, when quoted */
};

/* The role of a query in the one that mentions it. */
enum narrate_role {
    NARRATE_TOP,
    NARRATE_ARM,
    NARRATE_CTE,
    NARRATE_DERIVED,
    NARRATE_VALUE,
    NARRATE_IN,
    NARRATE_EXISTS,
    NARRATE_COMPARED
};

struct narrated_query {
    const struct sql_node *node; /* QUERY, SELECT or VALUES */
    const struct sql_node *name; /* CTE or DERIVED, else NULL */
    enum narrate_role role;
    uint32_t depth;
    uint32_t within; /* number of the query that mentions it */
    bool in_place;   /* the prose includes it where it is mentioned; its phrases have no prose of their own */
};

struct narrator {
    struct arena *arena;
    const struct explain_source *source;
    const struct explain_options *options;
    const struct schema_index *index;
    struct explain_phrase *phrases; /* [NARRATE_MAX_PHRASES] */
    uint32_t n_phrases;
    struct narrated_query queries[NARRATE_MAX_QUERIES];
    uint32_t n_queries, query; /* the one being narrated */
    struct say premise, prose; /* of the phrase being narrated */
    uint32_t columns[NARRATE_MAX_COLUMNS];
    uint32_t n_columns; /* of the phrase being narrated */
    uint32_t nesting;
    const struct sql_node *of_value; /* subject of the test being narrated, if a value replaces it */
    const struct sql_join_pair *pairs;
    uint32_t n_pairs;
    struct noun **nouns; /* names as read so far: of columns by id, then of tables */
    uint64_t *described; /* bitmap of column ids whose description has been narrated */
    bool cut;            /* something was omitted */
    bool full;           /* the arena is full */
    int64_t sql_ns;
    const char *missing; /* first thing that is missing */
};

/* A function that narrates a part of the statement. */
typedef void narrate_fn(struct narrator *t, struct say *out, const struct sql_node *node);

/* --- phrases.c --- */

/* Adds a phrase of the current query. `narrate` is called for the premise and for the prose; an empty text stays empty.
 * Sentences are given in lower case and without the final stop. */
void narrate_phrase(struct narrator *t, enum explain_kind kind, const struct sql_node *node, narrate_fn *narrate);
/* Adds a phrase from the two buffers, which the caller filled after narrate_begin. */
void narrate_begin(struct narrator *t);
void narrate_end(struct narrator *t, enum explain_kind kind, const struct sql_node *node, bool from_data);
/* Records a column that the phrase names. */
void narrate_column_used(struct narrator *t, const struct schema_column *column);
/* Records a missing part; the first record stays. */
void narrate_missing(struct narrator *t, const char *sentence);
/* Returns the number of a query, assigned at the first mention; 0 if there are too many. */
uint32_t narrate_query_number(struct narrator *t, const struct sql_node *query, const struct sql_node *name,
                              enum narrate_role role);

/* --- names.c --- */

/* Writes "port", or "port 2" if a block reads it twice; the CTE's name; "query 1" for an unnamed derived table. The
 * prose says "row of port 2" if there is only a name. */
void say_source(struct narrator *t, struct say *out, const struct sql_source *source);
/* True if the prose has a noun for the source's rows ("port"), not only a name ("port 2"). */
bool narrate_has_noun(const struct narrator *t, const struct sql_source *source);
/* Writes only the source's name: "port", "port 2". */
void say_source_name(struct narrator *t, struct say *out, const struct sql_source *source);
/* For prose: "ports", "rows of port 2"; "a port", "a row of port 2"; " of the port", " of port 2". */
void say_source_plural(struct narrator *t, struct say *out, const struct sql_source *source);
void say_a_source(struct narrator *t, struct say *out, const struct sql_source *source);
void say_of_source(struct narrator *t, struct say *out, const struct sql_source *source, uint32_t levels);
/* Writes the source in a list of those read: "port"; in prose "ports", but "port 2". */
void say_source_listed(struct narrator *t, struct say *out, const struct sql_source *source);
/* Writes "port.region", or "the region [of the port]". */
void say_ref(struct narrator *t, struct say *out, const struct sql_ref *ref);
void say_output(struct narrator *t, struct say *out, const struct sql_source *source, int output, uint32_t levels);
/* True if the words of a table's column begin with those of the table. */
bool narrate_names_its_table(const struct narrator *t, const struct sql_source *source, int output);
/* Writes "port.region" or "the region of the port" without a block. */
void say_column(struct narrator *t, struct say *out, const struct schema_column *column);
/* For prose: "region" and "IsOfficial"; "region" and "column IsOfficial"; the same with "the". */
void say_column_words(struct narrator *t, struct say *out, const struct schema_column *column);
void say_column_label(struct narrator *t, struct say *out, const struct schema_column *column);
void say_the_column(struct narrator *t, struct say *out, const struct schema_column *column);
/* True if the column takes "are" ("the points are ..."). */
bool narrate_column_is_plural(const struct narrator *t, const struct schema_column *column);
bool narrate_is_plural(const struct narrator *t, const struct sql_node *expr);
/* Returns the schema column behind a source's output, or NULL. */
const struct schema_column *narrate_column_at(const struct narrator *t, const struct sql_source *source, int output);
/* Writes "the query" or "query 2". */
void say_query(struct say *out, uint32_t number);
/* Writes "in query 2, ", which begins each sentence of an inner query. */
void say_within(struct narrator *t, struct say *out);
/* Writes the statement's own text of a node, truncated. */
void say_sql(struct narrator *t, struct say *out, const struct sql_node *node);
/* True if values of the data may be shown at all. */
bool narrate_shows_values(const struct narrator *t);
/* True if the column's values must not be shown. */
bool narrate_denied(const struct narrator *t, const struct schema_column *column);
/* True if the node uses a denied column, at any depth, or something that cannot be narrated. */
bool narrate_uses_denied(const struct narrator *t, const struct sql_node *node);

/* --- expr.c, condition.c, call.c --- */

void say_expr(struct narrator *t, struct say *out, const struct sql_node *expr);
/* Writes an expression without its article, after words that replace it: "the same region", "each different region". */
void say_expr_bare(struct narrator *t, struct say *out, const struct sql_node *expr);
/* True if the condition has a subject, its first kid, and a test of it. say_test writes the test: " is greater than
 * 200". */
bool narrate_has_test(const struct sql_node *condition);
void say_test(struct narrator *t, struct say *out, const struct sql_node *condition);
/* Returns "sum" for SUM(x) at the top of an expression; NULL if it is not an aggregate. */
const char *narrate_aggregate_name(const struct sql_node *expr);

/* --- clause.c --- */

/* Narrates one query of the queue. */
void narrate_query(struct narrator *t);

/* --- joins.c --- */

/* Narrates FROM and its joins. */
void narrate_from(struct narrator *t, const struct sql_block *block);
/* True if this condition is narrated as a join, and therefore not as a filter. */
bool narrate_is_join(const struct narrator *t, const struct sql_block *block, const struct sql_node *condition);

/* --- data_phrases.c --- */

/* Narrates data-level phrases. `provenance` and `whynot` may be NULL. */
void narrate_data(struct narrator *t, const struct provenance *provenance, const struct whynot *whynot);

/* --- whynot_phrases.c --- */

void narrate_why_not(struct narrator *t, const struct provenance *provenance, const struct whynot *whynot);

/* --- facts.c --- */

/* Narrates how a compared string is stored, if not as written. */
void narrate_stored_forms(struct narrator *t, const struct sql_node *condition);
/* Narrates how many rows the join of the statement's only block gives, and how many each table has. */
void narrate_join_counts(struct narrator *t, const struct sql_block *block);

/* --- graph.c --- */

/* Returns the graph of phrases and provenance. NULL if the arena is full. */
const struct explain_graph *narrate_graph(struct narrator *t, const struct provenance *provenance);

#endif
