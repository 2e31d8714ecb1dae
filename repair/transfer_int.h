/* Internal to repair/transfer*.c: the flattened trees between which scripts are transferred, and the names on both
 * sides. */
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
    bool binds;       /* every name is resolved */
};

/* Reads a statement into that form. Returns false if it does not parse or the arena is full. */
bool transfer_read(struct arena *arena, const char *sql, const struct sql_catalog *catalog, struct flat_tree *out);

/* Turns a flattened tree back into the parser's form, in place, and prints it as SQL. NULL if the tree is not a
 * statement or the arena is full. */
const char *transfer_print(struct arena *arena, struct sql_node *root);

/* A sequence of choices in a fixed order. Each run may request an option other than the best for one of them. */
enum { TRANSFER_MAX_CHOICES = 16, TRANSFER_MAX_OPTIONS = 3 };
struct choices {
    uint32_t n;
    uint32_t options[TRANSFER_MAX_CHOICES]; /* number of options of each choice */
    uint32_t asked[TRANSFER_MAX_CHOICES];   /* index of the option to take */
};

/* A script being transferred to another schema. */
struct transfer {
    struct arena *arena;
    const struct schema_index *schema;
    const struct repair_query *query;
    const struct repair_example *example;
    const struct sql_catalog *catalog; /* of the example's columns */
    struct text_tokens question;       /* the query's question; empty without one */
    struct flat_tree wrong, right, target;
    const struct sql_diff *script;      /* from wrong to right */
    const struct sql_node **from_wrong; /* partners in wrong, by id of right */
    const struct sql_node **in_target;  /* partners in the target, by id of wrong */
    bool *is_new;                       /* by id of right: the script introduces the node or sets its label */
};

/* Copies the right query's tree and replaces every name and value that the script introduces by one of the target's
 * schema. NULL if some have no replacement. */
struct sql_node *transfer_rebind(struct transfer *t, struct choices *choices);

/* Makes the catalog that sql_bind needs, of an example's columns. NULL if the arena is full. */
const struct sql_catalog *transfer_catalog(struct arena *arena, const struct repair_example *example);
/* Returns the column that a reference bound in that catalog means, or NULL. */
const struct repair_column *transfer_column_of(const struct sql_catalog *catalog, const struct sql_ref *ref);

/* True if both declared types are of text, of numbers, or of times. */
bool transfer_is_alike(const char *type, const char *other);

#endif
