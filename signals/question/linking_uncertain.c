/* linking_uncertain: the query uses a table or column about which the schema linker was uncertain, or the linker was
 * uncertain whether its list is complete.
 *
 * The request contains the output of a linker. For some of its steps, error predictors on the linker's hidden states
 * predict an error (docs/linking.md; Reliable Text-to-SQL with Adaptive Abstention, section 3.3). The facts help a user
 * to decide whether the question means this name: the name, its comment and three of its values. */
#include "signals/vsig.h"

#include "lib/schema/schema.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { VALUES_SHOWN = 3 };

static bool is_named(const char *name, const struct schema_table *table, const struct schema_column *column)
{
    size_t len = strlen(table->name);
    if (strncasecmp(name, table->name, len) != 0) return false;
    return column ? name[len] == '.' && strcasecmp(name + len + 1, column->name) == 0 : name[len] == '\0';
}

/* Returns the first node of the query that uses the name, or NULL. *column gets the column, or NULL for a table. */
static const struct sql_node *find(const struct vsig_subject *subject, const char *name,
                                   const struct schema_column **column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        *column = schema_column_of(subject->schema, ref);
        int table = *column                                     ? (int)(*column)->table
                    : ref->kind == SQL_REF_TABLE && ref->source ? ref->source->table
                                                                : -1;
        if (table >= 0 && is_named(name, &subject->schema->tables[table], *column)) return ref->node;
    }
    return NULL;
}

static void add_values(struct vsig_run *run, struct vsig_finding *finding, const struct schema_column *column)
{
    const char *list = "";
    for (uint32_t i = 0; i < column->stats.n_top && i < VALUES_SHOWN; i++) {
        const struct db_value *value = &column->stats.top[i].value;
        if (value->type != DB_TEXT || !list) continue;
        list = arena_printf(run->subject->arena, "%s%s%.*s", list, *list ? ", " : "",
                            value->len > 40 ? 40 : (int)value->len, value->text);
    }
    if (list && *list) vsig_add_fact(run, finding, "values", true, "%s", list);
}

static void check_name(struct vsig_run *run, const struct vsig_uncertain *place)
{
    const struct schema_column *column = NULL;
    const struct sql_node *node = find(run->subject, place->name, &column);
    if (!node) return;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, node, "the schema linker was not sure that the question means %s", place->name);
    const char *comment = column ? column->description : NULL;
    vsig_add_fact(run, finding, "name", false, "%s", place->name);
    if (!isnan(place->p)) vsig_add_fact(run, finding, "p", false, "%.2f", place->p);
    if (comment && *comment) vsig_add_fact(run, finding, "comment", false, "%s", comment);
    if (column) add_values(run, finding, column);
}

static enum err_code linking_uncertain_eval(struct vsig_run *run)
{
    const struct vsig_subject *subject = run->subject;
    for (uint32_t i = 0; i < subject->n_uncertain; i++) {
        const struct vsig_uncertain *place = &subject->uncertain[i];
        if (place->name)
            check_name(run, place);
        else
            vsig_fire(run, VSIG_WARNING, subject->bound->blocks[0]->node,
                      "the schema linker was not sure that its list of %s is complete",
                      place->columns ? "columns" : "tables");
    }
    return ERR_OK;
}

const struct vsig_def vsig_linking_uncertain = {
    .id = VSIG_ID_linking_uncertain,
    .name = "linking_uncertain",
    .family = VSIG_QUESTION,
    .cause = VSIG_QUESTION_AMBIGUITY,
    .sentence = "the query uses a table or column about which the request's schema linker was not sure",
    .description = "The request contains the output of a schema linker: a model that selects the tables and columns "
                   "for a question. The model's hidden states indicate a likely error at this table or column.",
    .example = "Which singers sang in 2014? - SELECT ... FROM singer JOIN song ... The linker was not sure that the "
               "question means song.",
    .instruction =
        "Use the table or column that the question means. If the question does not show that, ask the person.",
    .eval = linking_uncertain_eval,
};
