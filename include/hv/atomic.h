/*
 * Thin names for the compiler's atomics. Every use says in a comment which order it needs, who its
 * partner is and why.
 */
#ifndef HV_ATOMIC_H
#define HV_ATOMIC_H

#define atomic_get(p)            __atomic_load_n((p), __ATOMIC_RELAXED)
#define atomic_get_acquire(p)    __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define atomic_set(p, v)         __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define atomic_set_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* All of these return the value before the operation and are sequentially consistent. */
#define atomic_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_or(p, v)  __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_and(p, v) __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define atomic_exchange(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/* True when *p was *expected and is now v; else *expected receives what was there. */
#define atomic_cas(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define atomic_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
