/* Declares functions that the commands which replay requests share. */
#ifndef ASSAY_CLI_REPLAY_REPLAY_H
#define ASSAY_CLI_REPLAY_REPLAY_H

#include "cli/cli.h"
#include "proto/bus/range.h"
#include "train/feedback.h"

#include <signal.h>

/* The first SIGINT or SIGTERM after replay_catch_interrupts sets this flag. A second one ends the process. */
extern volatile sig_atomic_t replay_interrupted;
void replay_catch_interrupts(void);

/* Checks that the settings describe one replay. Prints an error and returns false if they contradict each other. */
bool replay_check(const struct cli *cli);

/* Checks that --from-... and --to-... form a range. Prints an error and returns false if not. For commands that read a
 * topic. */
bool replay_check_range(const struct settings *settings);

/* Checks that --group is not one of the fleet's groups. Prints an error and returns false if it is. For commands that
 * commit offsets of that group. */
bool replay_check_group(const struct settings *settings);

/* Runs feedback_read on these files and, if --from-topic names one, on that topic. */
enum err_code replay_read_feedback(struct cli *cli, const char *const *paths, int n, input_skipped skipped,
                                   struct feedback **out, struct err *err);
/* Sets the range of --from-topic. Returns ERR_CONFIG if a time is malformed. */
enum err_code replay_range(const struct settings *settings, struct range_config *out, struct err *err);

/* True for a regular file that is not empty. */
bool replay_is_full_file(const char *path);

/* Runs --feed: sends a log's requests to a fleet. Returns the exit code. */
int feed_run(struct cli *cli);

#endif
