/*
 * Counting the instructions of hosted code, under valgrind's callgrind (tools/bench/callgrind.py).
 *
 * BENCH runs a statement and gives its count a name, by callgrind's client requests: a few
 * instructions each, which the count of BENCH_NOTHING stands for and the reader subtracts. Outside
 * valgrind nothing is counted and the statement runs all the same. Nothing here may depend on time,
 * addresses or the environment: two runs count the same.
 *
 * The programs are built with the image's flags (but for those of its address space) and with its
 * memcpy and strlen, so that what is counted is what the image executes.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#define BENCH(name, statement)          \
    do {                                \
        CALLGRIND_ZERO_STATS;           \
        statement;                      \
        CALLGRIND_DUMP_STATS_AT(#name); \
    } while (0)

#define BENCH_NOTHING() BENCH(nothing, )

/* What is set up must be as meant: a wrong benchmark ends with a line and a status. */
#define BENCH_EXPECT(condition)                                             \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

#endif
