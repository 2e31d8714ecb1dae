/* Internal to explain.c and its parts: the state during the narration of a statement, and the functions of each file.
 *
 * DESIGN. The statement is taken apart into queries: itself, the arms of set operations, subqueries, CTEs and derived
 * tables. Each query gets a number when it is first mentioned and waits in a queue. Its phrases follow those of the
 * query that mentions it. So nested queries need no recursion, and a phrase never holds another query. The verifier can
 * compare the filter of a subquery with the question like any other filter. Rejected: subqueries in place, in
 * parentheses. They read well at one level and are unreadable at two.
 *
 * Only the prose includes the simplest inner queries (one table, one column) where they are mentioned.
 *
 * Each phrase is narrated twice by the same functions, into two buffers, premise and prose. `say.prose` selects the
 * wording. */
#ifndef ASSAY_LIB_EXPLAIN_NARRATOR_H
#define ASSAY_LIB_EXPLAIN_NARRATOR_H

#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/explain/say.h"

enum {
    NARRATE_MAX_PHRASES = 256,
    NARRATE_MAX_QUERIES = 48,
    NARRATE_MAX_COLUMNS = 64, /* columns that one phrase may name */
    NARRATE_MAX_NESTING = 40, /* levels of nesting of an expression; deeper parts are quoted from the statement */
    NARRATE_MAX_LIST = 48,    /* entries of an IN list, a select list, and so on */
    NARRATE_PHRASE_BYTES = 2048,
    NARRATE_LITERAL_BYTES = 160,
    NARRATE_NAME_BYTES = 64,
    NARRATE_SQL_BYTES = 240, /* bytes of a quotation from the statement */
};

/* The role of a query in the query that mentions it. */
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
    bool in_place;   /* true if the prose includes it where it is mentioned; its own phrases then have no prose */
};

struct narrator {
    struct arena *arena;
    const struct explain_source *source;
    const struct explain_options *options;
    const struct schema_index *index;
    struct explain_phrase *phrases; /* array of NARRATE_MAX_PHRASES */
    uint32_t n_phrases;
    struct narrated_query queries[NARRATE_MAX_QUERIES];
    uint32_t n_queries, query; /* number of queries; number of the query being narrated */
    struct say premise, prose; /* texts of the phrase being narrated */
    uint32_t columns[NARRATE_MAX_COLUMNS];
    uint32_t n_columns; /* columns that the phrase being narrated names so far */
    uint32_t nesting;
    const struct sql_node *of_value; /* subject of a test whose subject takes "is" because it is a single value; else
                                      * NULL */
    const struct sql_join_pair *pairs;
    uint32_t n_pairs;
    struct noun **nouns; /* nouns of the names read so far: of columns by id, then of tables by number */
    uint64_t *described; /* bitmap of column ids whose description has been narrated */
    bool cut;            /* true if something was omitted */
    bool full;           /* true if the arena is full */
    int64_t sql_ns;
    const char *missing; /* sentence on the first missing part */
};

/* A function that narrates a part of the statement. */
typedef void narrate_fn(struct narrator *t, struct say *out, const struct sql_node *node);

/* --- phrases.c --- */

/* Adds a phrase of the current query. Calls `narrate` once for the premise and once for the prose; an empty text stays
 * empty. `narrate` writes sentences in lower case and without the final stop. */
void narrate_phrase(struct narrator *t, enum explain_kind kind, const struct sql_node *node, narrate_fn *narrate);
/* Begin and end a phrase whose two buffers the caller fills in between. */
void narrate_begin(struct narrator *t);
void narrate_end(struct narrator *t, enum explain_kind kind, const struct sql_node *node, bool from_data);
/* Records a column that the phrase names. */
void narrate_column_used(struct narrator *t, const struct schema_column *column);
/* Records a missing part. Only the first record counts. */
void narrate_missing(struct narrator *t, const char *sentence);
/* Returns the number of a query, which it assigns at the first call for that query. Returns 0 if there are too many. */
uint32_t narrate_query_number(struct narrator *t, const struct sql_node *query, const struct sql_node *name,
                              enum narrate_role role);

/* --- names.c --- */

/* Writes a source: "port", or "port 2" if a block reads the table twice, the name of a CTE, or "query 1" for an unnamed
 * derived table. The prose says "row of port 2" if the source has no noun. */
void say_source(struct narrator *t, struct say *out, const struct sql_source *source);
/* Returns true if the prose has a noun for a row of the source ("port"), not only a name ("port 2"). */
bool narrate_has_noun(const struct narrator *t, const struct sql_source *source);
/* Writes only the source's name: "port", "port 2". */
void say_source_name(struct narrator *t, struct say *out, const struct sql_source *source);
/* Write a source in the prose: its rows, one row, or its name as owner. With a noun, they write "ports", "a port" and "
 * of the port". Without a noun, they write "rows of port 2", "a row of port 2" and " of port 2". */
void say_source_plural(struct narrator *t, struct say *out, const struct sql_source *source);
void say_a_source(struct narrator *t, struct say *out, const struct sql_source *source);
void say_of_source(struct narrator *t, struct say *out, const struct sql_source *source, uint32_t levels);
/* Writes the source in a list of sources: "port" in the premise, "ports" or "port 2" in the prose. */
void say_source_listed(struct narrator *t, struct say *out, const struct sql_source *source);
/* Write a column: "port.region" in the premise, "the region" or "the region of the port" in the prose. */
void say_ref(struct narrator *t, struct say *out, const struct sql_ref *ref);
void say_output(struct narrator *t, struct say *out, const struct sql_source *source, int output, uint32_t levels);
/* Returns true if the words of a table's column begin with the words of the table's name. */
bool narrate_names_its_table(const struct narrator *t, const struct sql_source *source, int output);
/* Writes a column outside of a block: "port.region" in the premise, "the region of the port" in the prose. */
void say_column(struct narrator *t, struct say *out, const struct schema_column *column);
/* Write a column in the prose, such as region or IsOfficial, which is no noun phrase. say_column_words writes "region"
 * and "IsOfficial", and say_column_label "region" and "column IsOfficial". say_the_column adds "the". */
void say_column_words(struct narrator *t, struct say *out, const struct schema_column *column);
void say_column_label(struct narrator *t, struct say *out, const struct schema_column *column);
void say_the_column(struct narrator *t, struct say *out, const struct schema_column *column);
/* Return true if the column or expression takes "are", as in "the points are ...". */
bool narrate_column_is_plural(const struct narrator *t, const struct schema_column *column);
bool narrate_is_plural(const struct narrator *t, const struct sql_node *expr);
/* Returns the schema column that an output of the source takes its values from; NULL if there is none. */
const struct schema_column *narrate_column_at(const struct narrator *t, const struct sql_source *source, int output);
/* Writes "the query" or "query 2". */
void say_query(struct say *out, uint32_t number);
/* Writes "in query 2, ", which begins each sentence of an inner query. */
void say_within(struct narrator *t, struct say *out);
/* Writes the text of a node as the statement has it, truncated. */
void say_sql(struct narrator *t, struct say *out, const struct sql_node *node);
/* Returns true if the options allow to show any values of the data. */
bool narrate_shows_values(const struct narrator *t);
/* Returns true if the column's values must not be shown. */
bool narrate_denied(const struct narrator *t, const struct schema_column *column);
/* Returns true if the node uses a denied column at any depth, or a column whose origin is unknown. */
bool narrate_uses_denied(const struct narrator *t, const struct sql_node *node);

/* --- expr.c, condition.c, call.c --- */

void say_expr(struct narrator *t, struct say *out, const struct sql_node *expr);
/* Writes an expression without its article, after words that replace it: "the same region", "each different region". */
void say_expr_bare(struct narrator *t, struct say *out, const struct sql_node *expr);
/* narrate_has_test returns true if the condition has a subject, which is its first kid, and a test of the subject.
 * say_test writes the test: " is greater than 200". */
bool narrate_has_test(const struct sql_node *condition);
void say_test(struct narrator *t, struct say *out, const struct sql_node *condition);
/* Returns "sum" if the expression is SUM(x), and likewise for other aggregates. Returns NULL if it is not an
 * aggregate. */
const char *narrate_aggregate_name(const struct sql_node *expr);

/* --- clause.c --- */

/* Narrates one query of the queue. */
void narrate_query(struct narrator *t);

/* --- joins.c --- */

/* Narrates FROM and its joins. */
void narrate_from(struct narrator *t, const struct sql_block *block);
/* Returns true if this condition is narrated as a join, and therefore not as a filter. */
bool narrate_is_join(const struct narrator *t, const struct sql_block *block, const struct sql_node *condition);

/* --- data_phrases.c --- */

/* Narrates data-level phrases. `provenance` and `whynot` may be NULL. */
void narrate_data(struct narrator *t, const struct provenance *provenance, const struct whynot *whynot);

/* --- whynot_phrases.c --- */

void narrate_why_not(struct narrator *t, const struct provenance *provenance, const struct whynot *whynot);

/* --- facts.c --- */

/* Narrates the stored form of a compared string, if the column does not hold the string as written. */
void narrate_stored_forms(struct narrator *t, const struct sql_node *condition);
/* Narrates the number of rows that the join gives and that each table has, for a statement with one block. */
void narrate_join_counts(struct narrator *t, const struct sql_block *block);

/* --- graph.c --- */

/* Returns the graph of the phrases and the provenance. Returns NULL if the arena is full. */
const struct explain_graph *narrate_graph(struct narrator *t, const struct provenance *provenance);

#endif
