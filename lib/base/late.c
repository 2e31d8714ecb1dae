#include "lib/base/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static enum err_code open_locked(struct late_library *library, struct err *err)
{
    char *pointer = library->pointers;
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return err_set(err, ERR_CONFIG, "cannot load a library: %s" ERR_HINT "install the package %s", dlerror(),
                       library->package);
    for (const char *name = library->names; *name; name += strlen(name) + 1, pointer += sizeof(void *)) {
        void *found = dlsym(handle, name);
        if (!found)
            return err_set(err, ERR_CONFIG,
                           "%s has no function %s: this program was built with another version of the library",
                           library->file, name);
        memcpy(pointer, &found, sizeof found);
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
