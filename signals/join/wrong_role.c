/* wrong_role: the query uses a value in one role, but the question gives it the opposite role. Examples are destination
 * and source, away and home, or managed and manager. The signal fires only if the question states the role directly
 * beside the value. A role word elsewhere is only a feature (signals/support/role.h). */
#include "signals/support/names.h"
#include "signals/support/role.h"

static enum err_code wrong_role_eval(struct vsig_run *run)
{
    const struct vsig_roles *roles = vsig_roles_look(run->subject);
    if (!roles) return ERR_LIMIT_MEMORY;
    if (roles->at && !roles->match) {
        const struct schema_table *table = &run->subject->schema->tables[roles->used->table];
        struct vsig_finding *finding = vsig_fire(
            run, VSIG_ERROR, roles->at, "the query looks up the value through %s.%s, but the question means %s",
            table->name, roles->used->name, roles->wanted->name);
        vsig_add_fact(run, finding, "wanted", false, "%s.%s", table->name, roles->wanted->name);
    }
    if (roles->ends_at && !roles->ends_match)
        vsig_fire(run, VSIG_ERROR, roles->ends_at,
                  "the two sides of the self-join are swapped: the question asks for the opposite direction");
    return ERR_OK;
}

const struct vsig_def vsig_wrong_role = {
    .id = VSIG_ID_wrong_role,
    .name = "wrong_role",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a value is used in the wrong role, for example as the source when the question says destination",
    .description = "Two columns of the table refer to the same kind of thing, and the query uses the wrong column. Or "
                   "the query swaps the two sides of a self-join.",
    .example = "How many flights leave from Oslo? - SELECT COUNT(*) FROM flight JOIN airport ON flight.destination = "
               "airport.code WHERE airport.city = 'Oslo'",
    .instruction = "Join on the column whose name matches the role that the question gives to the value.",
    .eval = wrong_role_eval,
};
