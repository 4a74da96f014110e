/*
 * Three processes, each of which reads or writes, as it likes: one queue for both. A writer may read on without a gap.
 */
#define WITH_READERS
#include "queue.pml"
