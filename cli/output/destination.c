#include "cli/output/destination.h"
#include "cli/cli.h"

#include <errno.h>

enum err_code destination_open(struct destination *to, const char *path, bool append, struct err *err)
{
    *to = (struct destination){.path = path, .stream = stdout};
    if (!path) return ERR_OK;
    int why = outfile_open(&to->file, path, append);
    to->stream = to->file.stream;
    return why ? err_set(err, ERR_IO, "%s: cannot be written: %s", path, g_strerror(why)) : ERR_OK;
}

bool destination_failed(const struct destination *to)
{
    return ferror(to->stream) != 0;
}

int destination_close(struct destination *to, int code)
{
    if (!to->path || !to->stream) return code;
    int why = outfile_close(&to->file);
    to->stream = NULL;
    if (!why || why == EPIPE) return code;
    complain("%s: cannot be written: %s", to->path, g_strerror(why));
    return EXIT_ERROR;
}

int close_stdout(int code)
{
    int why = outfile_flush_stdout();
    if (!why || why == EPIPE) return code;
    complain("standard output: cannot be written: %s", g_strerror(why));
    return EXIT_ERROR;
}
