/*
 * The few memory and string functions that the compiler and the guests call.
 */
#include <string.h>

#include "hv/types.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    void *d = dst;

    asm volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    uint8_t *d = (uint8_t *)dst + n - 1;
    const uint8_t *s = (const uint8_t *)src + n - 1;

    if ((uint64_t)dst - (uint64_t)src >= n)
        return memcpy(dst, src, n);
    asm volatile("std\n\trep movsb\n\tcld" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    return dst;
}

void *memset(void *dst, int value, size_t n)
{
    void *d = dst;

    asm volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(value) : "memory");
    return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;

    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n]) {
        n++;
        asm volatile(""); /* else the compiler makes this loop a call of strlen */
    }
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return (uint8_t)a[i] - (uint8_t)b[i];
        if (!a[i])
            return 0;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}
