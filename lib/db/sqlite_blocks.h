/* Allocates SQLite's memory in blocks, which each thread caches and reuses.
 *
 * Compiling a statement allocates and frees about two hundred small blocks. SQLite's own cache (lookaside) is off in
 * Debian's build, and glibc caches only seven blocks of each size. This module keeps freed blocks in lists by size, one
 * set of lists for each thread, up to a limit. A thread may free a block that another thread allocated.
 */
#ifndef ASSAY_LIB_DB_SQLITE_BLOCKS_H
#define ASSAY_LIB_DB_SQLITE_BLOCKS_H

/* Returns a block of at least `size` bytes, or NULL if memory is exhausted. Its address is a multiple of 8, as SQLite
 * requires. Thread: any. */
void *block_take(int size);
void block_give(void *block);              /* may be NULL */
void *block_resize(void *block, int size); /* returns NULL and leaves the block unchanged if memory is exhausted */

/* Return the usable bytes of a block, and of a block that would be allocated for `size` bytes. Both may exceed the
 * requested size. */
int block_size(const void *block);
int block_size_for(int size);

#endif
