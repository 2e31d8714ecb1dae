/* Runs when libassay is loaded. The program `assay`, which is built from the same code, does not link this file. */
#include "lib/base/log.h"

/* Stops all log output, because the host program owns standard error. */
__attribute__((constructor)) static void close_log(void)
{
    log_close();
}
