/* SQLite's memory, in blocks that a thread keeps for the next time.
 *
 * A statement that is compiled takes some two hundred small blocks and gives them back. SQLite would keep such ones itself
 * (its lookaside), but not as Debian builds it, and glibc keeps seven of a size. Here each thread keeps what it gives
 * back, up to a bound, in lists by size. A block may be given back by another thread than took it.
 */
#ifndef ASSAY_LIB_DB_SQLITE_BLOCKS_H
#define ASSAY_LIB_DB_SQLITE_BLOCKS_H

/* At an address that is a multiple of 8, as SQLite wants it. NULL: out of memory. Thread: any. */
void *block_take(int size);
void block_give(void *block);              /* NULL is fine */
void *block_resize(void *block, int size); /* NULL: out of memory, and the block is as it was */

/* The bytes of a block, which may be more than were asked for; and of one that would be asked for. */
int block_size(const void *block);
int block_size_for(int size);

#endif
