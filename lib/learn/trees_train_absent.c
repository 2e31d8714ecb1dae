/* Replaces trees_train.c in a build without xgboost. classifier.c refuses the kind first, so trees_fit is never
 * called. */
#include "lib/learn/trees.h"

enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **state,
                        struct err *err)
{
    (void)rows;
    (void)options;
    (void)state;
    return err_set(err, ERR_CONFIG, "this build cannot train trees");
}
