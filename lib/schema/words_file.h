/* Reads words.yaml, the file in which a team describes its database. Internal to lib/schema. Each section has a
 * separate reader.
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

/* Returns a node of the document by its number. Returns NULL if it does not exist. */
const yaml_node_t *words_node(struct words_file *file, int number);
/* Adds a note about an unusable entry, with the line of the node. */
void words_note(struct words_file *file, const yaml_node_t *node, const char *what);
/* Returns the text of a scalar, in the builder's arena. Returns NULL for any other node. Also returns NULL if the text
 * is empty, is longer than 500 bytes, or contains a NUL. */
const char *words_text(struct words_file *file, const yaml_node_t *node);
/* Returns the column that a text such as "orders.customer_id" names, with or without the table's schema. Returns NULL
 * if there is none. */
const struct schema_column *words_column(const struct schema_index *index, const char *name, size_t len);

/* Each function reads the node of one section. */
void words_read_terms(struct words_file *file, const yaml_node_t *section); /* words: (terms.c) */
void words_read_keys(struct words_file *file, const yaml_node_t *section);  /* keys: (keys.c) */

#endif
