#include "lib/learn/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static enum err_code open_locked(struct late_library *library, struct err *err)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return err_set(err, ERR_CONFIG, "training needs a library that cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < library->n; i++) {
        void *found = dlsym(handle, library->calls[i].name);
        if (!found) return err_set(err, ERR_CONFIG, "%s has no %s", library->file, library->calls[i].name);
        memcpy(library->calls[i].address, &found, sizeof found);
    }
    library->open = true;
    return ERR_OK;
}

enum err_code late_open(struct late_library *library, struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    enum err_code code = library->open ? ERR_OK : open_locked(library, err);
    pthread_mutex_unlock(&lock);
    return code;
}
