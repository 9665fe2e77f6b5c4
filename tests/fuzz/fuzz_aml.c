/* \_S5 out of AML: the input is a whole table, its header included. */
#include "fuzz.h"

#include <errno.h>

#include "boot/aml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct acpi_s5 s5;
    size_t fault;
    int err = aml_find_s5(data, bytes, &s5, &fault);

    FUZZ_CHECK(!err || err == -ENOENT || err == -ENOTSUP || err == -EINVAL);
    FUZZ_CHECK(s5.known == !err && fault <= bytes);
    FUZZ_CHECK(s5.typ_a < 8 && s5.typ_b < 8);
    return 0;
}
