/* MADT reader and the list of CPUs that follows from it. */
#include "fuzz.h"

#include "boot/madt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct madt_cpu cpus[256];
    static struct madt_info info;
    static struct fw_warnings warnings;
    static uint32_t ids[64];
    static uint64_t scratch[256];
    size_t fault;
    uint32_t n;

    warnings.count = warnings.dropped = 0;
    info.cpus = cpus;
    info.cpu_capacity = ARRAY_SIZE(cpus);
    if (madt_parse(data, bytes, &info, &warnings, &fault))
        return 0;
    n = madt_cpu_list(&info, 3, ids, ARRAY_SIZE(ids), scratch, &warnings);
    FUZZ_CHECK(n >= 1 && n <= ARRAY_SIZE(ids) && ids[0] == 3);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            FUZZ_CHECK(ids[i] != ids[j]);
    return 0;
}
