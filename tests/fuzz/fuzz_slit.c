/* SLIT reader. */
#include "fuzz.h"

#include "boot/slit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct fw_warnings warnings;
    struct slit_info info;
    size_t fault;

    warnings.count = warnings.dropped = 0;
    if (slit_parse(data, bytes, &info, &warnings, &fault))
        return 0;
    FUZZ_CHECK(info.n > 0 && info.rows >= data);
    FUZZ_CHECK((size_t)info.n * info.n <= bytes - (size_t)(info.rows - data));
    return 0;
}
