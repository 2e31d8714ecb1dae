#include "server/file_watch.h"

bool file_watch_changed(const char *path, struct stat *seen)
{
    struct stat now = {0};
    if (stat(path, &now)) now = (struct stat){.st_size = -1};
    bool same = now.st_ino == seen->st_ino && now.st_dev == seen->st_dev && now.st_size == seen->st_size &&
                now.st_mtim.tv_sec == seen->st_mtim.tv_sec && now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
    *seen = now;
    return !same;
}
