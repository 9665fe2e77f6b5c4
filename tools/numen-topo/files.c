/*
 * Reading files into memory and walking over their lines.
 *
 * Decides nothing about contents. A file is read whole before anything looks at it, so a reader
 * sees one unchanging piece of memory; FILE_LIMIT keeps an endless one (/dev/zero) from filling it.
 */
#include "tools/numen-topo/topo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT (64 * MIB)
#define FIRST_READ (64 * KIB)

void *grow_array(void *array, size_t count, size_t element_bytes)
{
    void *grown = reallocarray(array, MAX(count, (size_t)1), element_bytes);

    if (!grown) {
        fprintf(stderr, "numen-topo: out of memory\n");
        exit(EXIT_USAGE);
    }
    return grown;
}

static int read_stream(FILE *stream, struct file_bytes *out)
{
    size_t capacity = FIRST_READ, got;

    out->bytes = 0;
    out->data = grow_array(NULL, capacity + 1, 1);
    while ((got = fread(out->data + out->bytes, 1, capacity - out->bytes, stream)) > 0) {
        out->bytes += got;
        if (out->bytes > FILE_LIMIT)
            return -EFBIG;
        if (out->bytes == capacity) {
            capacity *= 2;
            out->data = grow_array(out->data, capacity + 1, 1);
        }
    }
    if (ferror(stream))
        return errno ? -errno : -EIO;
    /* Cut to size, so that a sanitizer sees every step beyond the end; the NUL serves text. */
    out->data = grow_array(out->data, out->bytes + 1, 1);
    out->data[out->bytes] = 0;
    return 0;
}

int file_read(const char *path, struct file_bytes *out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(path, "rb");
    int err;

    if (!stream)
        return -errno;
    errno = 0;
    err = read_stream(stream, out);
    if (!is_stdin)
        fclose(stream);
    if (err)
        free(out->data);
    return err;
}

char *line_next(char **at)
{
    char *line = *at;
    size_t length;

    if (!*line)
        return NULL;
    length = strcspn(line, "\n");
    *at = line + length + (line[length] == '\n');
    line[length] = 0;
    if (length && line[length - 1] == '\r')
        line[length - 1] = 0;
    return line;
}
