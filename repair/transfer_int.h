/* Inside repair/transfer*.c: trees in the shape in which scripts are transferred, and what names mean on either side. */
#ifndef ASSAY_REPAIR_TRANSFER_INT_H
#define ASSAY_REPAIR_TRANSFER_INT_H

#include "repair/propose_int.h"
#include "repair/transfer.h"

/* A statement as its partly normal form, flattened, with its nodes by id; refs are bound. */
struct flat_tree {
    struct sql_stmt *stmt; /* parsed from the normal form; its root is flattened */
    struct sql_bound *bound;
    struct sql_node **nodes;
    uint32_t n;
    const char *text; /* the normal form */
    bool binds;       /* every name means something */
};

/* Read a statement into that shape. False: it does not parse, or the arena is full. */
bool transfer_read(struct arena *arena, const char *sql, const struct sql_catalog *catalog, struct flat_tree *out);

/* Back into a tree as the parser makes them, in place, and as SQL. NULL: it is no statement, or the arena is full. */
const char *transfer_print(struct arena *arena, struct sql_node *root);

/* One choice after another in a fixed order: each run may ask one of them for another option than the best. */
enum { TRANSFER_MAX_CHOICES = 16, TRANSFER_MAX_OPTIONS = 3 };
struct choices {
    uint32_t n;
    uint32_t options[TRANSFER_MAX_CHOICES]; /* how many there were */
    uint32_t asked[TRANSFER_MAX_CHOICES];   /* which one to take */
};

/* A script on its way to another schema. */
struct transfer {
    struct arena *arena;
    const struct schema_index *schema;
    const struct repair_query *query;
    const struct repair_example *example;
    const struct sql_catalog *catalog; /* of the example's columns */
    struct text_tokens question;       /* the query's; empty if it has none */
    struct flat_tree wrong, right, target;
    const struct sql_diff *script;      /* from wrong to right */
    const struct sql_node **from_wrong; /* partners in wrong, by id of right */
    const struct sql_node **in_target;  /* partners in the target, by id of wrong */
    bool *is_new;                       /* by id of right: does the script bring it in, or give it its label? */
};

/* A copy of the right query's tree in which every name and value that the script brings in is one of the target's schema. NULL:
 * some cannot be. */
struct sql_node *transfer_rebind(struct transfer *t, struct choices *choices);

/* The catalog that sql_bind needs, of an example's columns. NULL: the arena is full. */
const struct sql_catalog *transfer_catalog(struct arena *arena, const struct repair_example *example);
/* The column that a reference bound in that catalog means; NULL: none. */
const struct repair_column *transfer_column_of(const struct sql_catalog *catalog, const struct sql_ref *ref);

/* Of declared types: both of text, both of numbers, or both of times? */
bool transfer_is_alike(const char *type, const char *other);

#endif
