#include "lib/base/locations.h"

bool err_names_locations(enum err_code code)
{
    static const enum err_code codes[] = {ERR_DB_MISSING, ERR_DB_UNREADABLE,  ERR_DB_CORRUPT, ERR_DB_EMPTY,
                                          ERR_DB_LOCKED,  ERR_DB_UNAVAILABLE, ERR_UNREACHABLE};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code) return true;
    return err_class(code) == ERR_CLASS_FATAL;
}

const char *err_public_text(const struct err *err)
{
    return err->text[0] && !err_names_locations(err->code) ? err->text : err_meaning(err->code);
}
