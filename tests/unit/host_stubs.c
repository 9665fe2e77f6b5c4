/*
 * What a hosted program needs in place of the kernel: a failed ASSERT ends it, lock ranks go
 * unchecked. Both are weak, so that a test can look at them instead.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hv/assert.h"
#include "hv/lock.h"

__attribute__((weak)) void assert_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: ASSERT(%s) failed\n", file, line, expr);
    abort();
}

__attribute__((weak)) void lock_rank_push(const struct spinlock *lock, bool nested)
{
    (void)lock;
    (void)nested;
}

__attribute__((weak)) void lock_rank_pop(const struct spinlock *lock)
{
    (void)lock;
}
