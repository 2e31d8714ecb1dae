/* Why-not: see provenance.h. */
#include "lib/explain/provenance.h"

const char *whynot_kind_name(enum whynot_kind kind)
{
    static const char *const names[] = {
        [WHYNOT_WHERE] = "WHERE",       [WHYNOT_ON] = "JOIN",     [WHYNOT_HAVING] = "HAVING",
        [WHYNOT_ARM] = "set operation", [WHYNOT_LIMIT] = "LIMIT",
    };
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

enum err_code prov_whynot(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                          struct whynot *out)
{
    (void)arena, (void)source, (void)options;
    *out = (struct whynot){.status = WHYNOT_UNAVAILABLE, .reason = "not built yet"};
    return ERR_OK;
}
