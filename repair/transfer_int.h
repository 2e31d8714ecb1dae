/* Internal to repair/transfer*.c: flattened trees, and the state of a transfer from the example to the target. */
#ifndef ASSAY_REPAIR_TRANSFER_INT_H
#define ASSAY_REPAIR_TRANSFER_INT_H

#include "repair/propose_int.h"
#include "repair/transfer.h"

/* A statement in a partly normal form, flattened, with its nodes by id. Its references are bound. */
struct flat_tree {
    struct sql_stmt *stmt; /* parsed from `text`; its root is flattened */
    struct sql_bound *bound;
    struct sql_node **nodes;
    uint32_t n;
    const char *text; /* the statement in the normal form */
    bool binds;       /* every name is resolved */
};

/* Reads a statement as a flattened tree. Returns false if it does not parse or the arena is full. */
bool transfer_read(struct arena *arena, const char *sql, const struct sql_catalog *catalog, struct flat_tree *out);

/* Restores the parser's form of a flattened tree, in place, and returns it as SQL. Returns NULL if the tree is not a
 * statement or the arena is full. */
const char *transfer_print(struct arena *arena, struct sql_node *root);

/* A sequence of choices in a fixed order. A run may take an option other than the best for some of them. */
enum { TRANSFER_MAX_CHOICES = 16, TRANSFER_MAX_OPTIONS = 3 };
struct choices {
    uint32_t n;
    uint32_t options[TRANSFER_MAX_CHOICES]; /* number of options of each choice */
    uint32_t asked[TRANSFER_MAX_CHOICES];   /* for each choice: index of the option to take; 0 is the best */
};

/* A script that is being transferred to another schema. */
struct transfer {
    struct arena *arena;
    const struct schema_index *schema;
    const struct repair_query *query;
    const struct repair_example *example;
    const struct sql_catalog *catalog; /* catalogue of the example's columns */
    struct text_tokens question;       /* words of the query's question; empty if there is none */
    struct flat_tree wrong, right, target;
    const struct sql_diff *script;      /* edit script from `wrong` to `right` */
    const struct sql_node **from_wrong; /* by id of a node of `right`: its partner in `wrong` */
    const struct sql_node **in_target;  /* by id of a node of `wrong`: its partner in `target` */
    bool *is_new;                       /* by id of a node of `right`: the script adds the node or sets its label */
};

/* Copies the tree of the right query, and replaces every name and value that the script introduces by one of the
 * target's schema. Returns NULL if one has no replacement. */
struct sql_node *transfer_rebind(struct transfer *t, struct choices *choices);

/* Creates a catalogue of the example's columns for sql_bind. Returns NULL if the arena is full. */
const struct sql_catalog *transfer_catalog(struct arena *arena, const struct repair_example *example);
/* Returns the column of a reference that was bound with that catalogue, or NULL. */
const struct repair_column *transfer_column_of(const struct sql_catalog *catalog, const struct sql_ref *ref);

/* True if both declared types are text types, number types, or time types. */
bool transfer_is_alike(const char *type, const char *other);

#endif
