/* Restarts the program in its own process, by execve. */
#ifndef ASSAY_LIB_BASE_ANEW_H
#define ASSAY_LIB_BASE_ANEW_H

/* Allows restarts of the program behind /proc/self/exe, and records the time. Thread: main, before others start. */
void anew_allow(void);

/* Forbids restarts: a process that was told to end must not come back. Thread: any. */
void anew_forbid(void);

/* Returns the number of consecutive restarts of this process: 0 if there was none, or if the previous run lasted long.
 */
unsigned anew_count(void);

/* Replaces the program by itself with the same arguments. Nothing in memory survives, no thread and no connection: the
 * effect is an end and a start with the same process id. Returns only if it is not allowed or fails. Thread: any, also
 * while others hang in a call. */
void anew_begin(void);

#endif
