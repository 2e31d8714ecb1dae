/* SQLite's memory, in blocks that each thread reuses.
 *
 * Compiling a statement allocates and frees about two hundred small blocks. SQLite's own cache (its lookaside) is off
 * in Debian's build, and glibc caches only seven blocks of a size. Here each thread caches freed blocks, up to a bound,
 * in lists by size. A thread may free a block that another thread allocated.
 */
#ifndef ASSAY_LIB_DB_SQLITE_BLOCKS_H
#define ASSAY_LIB_DB_SQLITE_BLOCKS_H

/* Returns a block at a multiple of 8, as SQLite requires, or NULL if memory is exhausted. Thread: any. */
void *block_take(int size);
void block_give(void *block);              /* NULL is fine */
void *block_resize(void *block, int size); /* returns NULL if memory is exhausted, and leaves the block unchanged */

/* Return the usable bytes of a block, which may exceed its requested size, and of a block for `size` bytes. */
int block_size(const void *block);
int block_size_for(int size);

#endif
