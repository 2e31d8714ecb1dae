/* Beginning the program anew in its own process, by execve. */
#ifndef ASSAY_LIB_BASE_ANEW_H
#define ASSAY_LIB_BASE_ANEW_H

/* Allows it, for the program that /proc/self/exe is. Remembers when. Thread: main, before others start. */
void anew_allow(void);

/* Takes the permission back: a process that was told to end must not come back. Thread: any. */
void anew_forbid(void);

/* Number of times in a row that this process began anew; 0 if it did not, or if the run before lasted long. */
unsigned anew_count(void);

/* Replaces the program by itself with the same arguments. Nothing in memory survives, no thread, no connection: the
 * same as an end and a start, with the same process id. Returns only if it is not allowed or fails. Thread: any, also
 * while others hang in a call. */
void anew_begin(void);

#endif
