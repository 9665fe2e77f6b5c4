/*
 * ASSERT: a broken promise of the host's own code. Always compiled in, in every build.
 *
 * It is never for a guest's error (vm_kill) nor for an expected failure (-errno). assert_failed is
 * supplied by whoever links the code: the image panics, hosted programs abort.
 */
#ifndef HV_ASSERT_H
#define HV_ASSERT_H

_Noreturn void assert_failed(const char *expr, const char *file, int line);

#define ASSERT(expr)                                  \
    do {                                              \
        if (__builtin_expect(!(expr), 0))             \
            assert_failed(#expr, __FILE__, __LINE__); \
    } while (0)

#ifdef HV_DEBUG
#define DEBUG_BUILD 1
#else
#define DEBUG_BUILD 0
#endif

/* For checks too costly for a release build; the expression is type-checked in both. */
#define DEBUG_ASSERT(expr) \
    do {                   \
        if (DEBUG_BUILD)   \
            ASSERT(expr);  \
    } while (0)

#endif
