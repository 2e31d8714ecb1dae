/* Restarts the program in the same process, by execve. */
#ifndef ASSAY_LIB_BASE_ANEW_H
#define ASSAY_LIB_BASE_ANEW_H

/* Allows restarts and records the start time. Thread: main, before other threads start. */
void anew_allow(void);

/* Forbids restarts. Called when the process is asked to end. Thread: any. */
void anew_forbid(void);

/* Returns the number of this restart in a series of short runs, or 0 if the program was not restarted. A run of more
 * than ten minutes ends the series; the restart after it is number 1. */
unsigned anew_count(void);

/* Executes the program again, with the same arguments and the same process id. Memory, threads and connections are
 * lost, as if the process had ended. Returns only if restarts are not allowed or execve fails. Thread: any, even while
 * other threads hang in a call. */
void anew_begin(void);

#endif
