/* The difference of two trees as a script: inserted, deleted, updated and moved nodes.
 *
 * The trees are matched first, in three phases. Equal subtrees match by hash. Containers then match by the share of
 * matched nodes below them. These are the two phases of GumTree, after ChangeDistiller's idea of matching leaves before
 * inner nodes. The remaining nodes inside matched clauses match last, because SQL's fixed slots identify their
 * partners. The matching yields a script:
 *
 *    UPDATE  a node of `a` takes the label (operator, texts, flags) of its partner; kinds never change
 *    DELETE  removes a node of `a`, with everything below it that has no partner
 *    MOVE    a node of `a` with all its matched content goes to another parent, slot or index in its list
 *    INSERT  adds a node of `b`, with everything below it that has no partner
 *
 * Edits apply in this order. All updates come first. Then all moved and deleted nodes leave their parents. Finally,
 * inserted and moved nodes enter their new parents in the order of `b`, each at `index`. Applied to `a`, the script
 * gives a tree equal to `b`.
 *
 * Work is bounded: matching stops after `SQL_DIFF_BUDGET` comparisons, and unmatched nodes are deleted and inserted.
 * The script is then still correct, only longer (`capped` is set). Thread: any; no state. */
#ifndef ASSAY_LIB_SQL_DIFF_H
#define ASSAY_LIB_SQL_DIFF_H

#include "lib/sql/bind.h"

enum { SQL_DIFF_BUDGET = 4000000 };

enum sql_edit_kind { SQL_EDIT_UPDATE, SQL_EDIT_DELETE, SQL_EDIT_MOVE, SQL_EDIT_INSERT, SQL_EDIT_KIND_COUNT };

struct sql_edit {
    enum sql_edit_kind kind;
    const struct sql_node *from; /* node of `a`; NULL for INSERT */
    const struct sql_node *to;   /* node of `b`; NULL for DELETE */
    /* MOVE and INSERT: the new parent. It is the partner of `to->parent`, or the copy of `to->parent` that another edit
     * inserts. At most one of the two fields is set. */
    const struct sql_node *parent_from; /* a node of `a` that stays or moves */
    const struct sql_node *parent_to;   /* a node of `b` that another edit inserts */
    uint32_t index;                     /* slot, or index in the list */
    uint32_t size;                      /* nodes that this edit adds, removes or moves */
};

struct sql_diff {
    const struct sql_node *a, *b;
    struct sql_edit *edits; /* updates, deletes, then moves and inserts in order of `b` */
    uint32_t n_edits;
    uint32_t count[SQL_EDIT_KIND_COUNT];
    uint32_t nodes_a, nodes_b, matched;
    bool capped;
};

/* Compares two trees (usually statements' roots). Both must outlive the result. Returns NULL if the arena is full. */
struct sql_diff *sql_diff(struct arena *arena, const struct sql_node *a, const struct sql_node *b);

/* Applies the script to a copy of `a` and returns its tree, with ids and parents set. NULL if the arena is full. */
struct sql_node *sql_diff_apply(struct arena *arena, const struct sql_diff *diff);

/* Returns the matching without a script: for each node of `a`, by id, its partner in `b`, or NULL. The ids must be
 * those of sql_renumber. Returns NULL if the arena is full. */
const struct sql_node **sql_diff_partners(struct arena *arena, const struct sql_node *a, const struct sql_node *b);

/* Returns "update", "delete", "move" or "insert". */
const char *sql_edit_name(enum sql_edit_kind kind);

/* A part of `a`'s text that an edit changes. */
struct sql_diff_span {
    uint32_t start, end; /* bytes; for an INSERT, the parent in `a`; empty, at the parent's end, if the clause is new */
    enum sql_edit_kind kind;
    enum sql_clause clause;
    const struct sql_node *node; /* the node of `a` (UPDATE, DELETE, MOVE) or of `b` (INSERT) */
};

/* Lists the spans in which `a` differs, one for each edit, in order of the text. An operator's update spans the
 * operator alone, so that a change from EXCEPT to UNION does not mark both arms. Returns the count, or -1 if the arena
 * is full. */
int sql_diff_spans(struct arena *arena, const struct sql_diff *diff, struct sql_diff_span **out);

#endif
