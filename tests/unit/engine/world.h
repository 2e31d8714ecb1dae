/* Creates a folder with two small databases, and requests about them, for tests of the engine. */
#ifndef ASSAY_TESTS_UNIT_ENGINE_WORLD_H
#define ASSAY_TESTS_UNIT_ENGINE_WORLD_H

#include "engine/engine.h"

struct world {
    char dir[64];
    const char *roots[1];
};

/* Creates the folder. Returns false if the folder or a database could not be created. */
bool world_make(struct world *world);
void world_remove(struct world *world);

/* Opens an engine on that folder. It has no label model unless config->label_model is set; other defaults apply. */
enum err_code world_open(struct world *world, struct engine_config *config, struct engine **out, struct err *err);

/* Returns request number i of an endless sequence. The request is in static memory of the calling thread until the next
 * call. */
const struct msg_request *world_request(uint64_t i);

#endif
