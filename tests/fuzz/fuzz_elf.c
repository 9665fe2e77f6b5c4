/* Guest images. */
#include "fuzz.h"

#include "boot/elf.h"

#define MEMORY_BYTES (64 * MIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct image image;
    bool entry_found = false;
    size_t fault;

    if (image_parse(data, bytes, MEMORY_BYTES, &image, &fault))
        return 0;
    FUZZ_CHECK(image.nsegments > 0 && image.nsegments <= IMAGE_SEGMENTS_MAX);
    for (uint32_t i = 0; i < image.nsegments; i++) {
        const struct image_segment *s = &image.segment[i];

        FUZZ_CHECK(s->file_bytes <= s->mem_bytes && s->file_offset <= bytes);
        FUZZ_CHECK(s->file_bytes <= bytes - s->file_offset);
        FUZZ_CHECK(s->base <= MEMORY_BYTES && s->mem_bytes <= MEMORY_BYTES - s->base);
        entry_found |= image.entry >= s->base && image.entry - s->base < s->mem_bytes;
    }
    FUZZ_CHECK(entry_found);
    return 0;
}
