/* Provenance by rewriting: see provenance.h. */
#include "lib/explain/provenance.h"

const char *prov_rule_text(enum prov_rule rule)
{
    static const char *const texts[] = {
        [PROV_RULE_ONLY] = "the only row",
        [PROV_RULE_FIRST] = "the first row",
        [PROV_RULE_SEEDED] = "a row drawn by the seed",
        [PROV_RULE_NO_NULL] = "the first row that holds no NULL",
    };
    return (unsigned)rule < sizeof texts / sizeof *texts ? texts[rule] : "?";
}

enum err_code prov_trace(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                         struct provenance *out)
{
    (void)arena, (void)options;
    *out = (struct provenance){
        .status = PROV_UNAVAILABLE, .code = ERR_INTERNAL, .reason = "not built yet", .result = source->result};
    return ERR_OK;
}

const char *prov_check_sql(struct arena *arena, const struct explain_source *source, const struct prov_arm *arm)
{
    (void)arena, (void)source, (void)arm;
    return NULL;
}
