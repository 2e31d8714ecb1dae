/* What libassay does when it is loaded, and the program, which is made of the same rooms, does not. */
#include "lib/base/log.h"

/* Standard error is the host program's. */
__attribute__((constructor)) static void close_log(void)
{
    log_close();
}
