/* The file words.yaml: what a team says of its database. Internal to lib/schema; each section has a reader of its own.
 */
#ifndef ASSAY_LIB_SCHEMA_WORDS_FILE_H
#define ASSAY_LIB_SCHEMA_WORDS_FILE_H

#include "lib/schema/schema_int.h"

#include <yaml.h>

struct words_file {
    struct builder *builder;
    const char *path;
    yaml_document_t document;
};

/* Returns a node of the document by its number, or NULL. */
const yaml_node_t *words_node(struct words_file *file, int number);
/* Adds a note about an unusable entry, with the line of the node. */
void words_note(struct words_file *file, const yaml_node_t *node, const char *what);
/* Returns the text of a scalar, in the builder's arena. Returns NULL for any other node, and for a text that is empty,
 * longer than 500 bytes, or contains a NUL. */
const char *words_text(struct words_file *file, const yaml_node_t *node);
/* Returns the column that a text such as "orders.customer_id" names, with or without the table's schema, or NULL. */
const struct schema_column *words_column(const struct schema_index *index, const char *name, size_t len);

/* Each reads the node of one section. */
void words_read_terms(struct words_file *file, const yaml_node_t *section); /* words: (terms.c) */
void words_read_keys(struct words_file *file, const yaml_node_t *section);  /* keys: (keys.c) */

#endif
