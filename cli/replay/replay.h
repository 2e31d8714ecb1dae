/* What the ways of replaying have in common. */
#ifndef ASSAY_CLI_REPLAY_REPLAY_H
#define ASSAY_CLI_REPLAY_REPLAY_H

#include "cli/cli.h"
#include "proto/bus/range.h"
#include "train/feedback.h"

#include <signal.h>

/* Set by the first SIGINT or SIGTERM after replay_catch_interrupts; the second one kills as usual. */
extern volatile sig_atomic_t replay_interrupted;
void replay_catch_interrupts(void);

/* Do the settings make one replay? Complains and returns false where they contradict each other. */
bool replay_check(const struct cli *cli);

/* Do --from-... and --to-... make one range? Complains and returns false where not. For whoever reads one. */
bool replay_check_range(const struct settings *settings);

/* True when --group is not one of the fleet's groups; else complains and returns false. For commands that write its
 * offsets. */
bool replay_check_group(const struct settings *settings);

/* feedback_read of these files and, where --from-topic names one, of that topic. */
enum err_code replay_read_feedback(struct cli *cli, const char *const *paths, int n, input_skipped skipped,
                                   struct feedback **out, struct err *err);
/* The range of --from-topic. ERR_CONFIG: a time that is none. */
enum err_code replay_range(const struct settings *settings, struct range_config *out, struct err *err);

/* A regular file that holds something. */
bool replay_is_full_file(const char *path);

/* --feed: send a log's requests to a fleet. Exit code. */
int feed_run(struct cli *cli);

#endif
