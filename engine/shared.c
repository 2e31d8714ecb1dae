/* Runs when libassay is loaded. The program, which consists of the same rooms, does not link this file. */
#include "lib/base/log.h"

/* The host program owns standard error. */
__attribute__((constructor)) static void close_log(void)
{
    log_close();
}
