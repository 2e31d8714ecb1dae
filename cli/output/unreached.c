#include "cli/output/unreached.h"
#include "cli/cli.h"

#include <string.h>

int report_unreached(const struct labeler *labeler, int code)
{
    const char *name = NULL, *why = NULL;
    uint32_t n = labeler_unreached(labeler, &name, &why);
    if (!n) return code;
    complain("%u database%s could not be opened, and %s requests are left out: %s%s: %s", n, n == 1 ? "" : "s",
             n == 1 ? "its" : "their", n == 1 ? "" : "for example ", name, why);
    return code ? code : EXIT_JUDGED;
}

bool verdict_is_unreached(const struct msg_verdict *verdict)
{
    static const enum err_code CODES[] = {ERR_DB_MISSING, ERR_DB_UNREADABLE, ERR_DB_CORRUPT,    ERR_DB_EMPTY,
                                          ERR_DB_LOCKED,  ERR_UNREACHABLE,   ERR_DB_UNAVAILABLE};
    if (verdict->status != MSG_STATUS_FAILED || !verdict->reason) return false;
    for (unsigned i = 0; i < G_N_ELEMENTS(CODES); i++)
        if (strcmp(verdict->reason, err_name(CODES[i])) == 0) return true;
    return false;
}
