/* CPUs as people call them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arch/x86/cpu_model.h"
#include "hv/bits.h"

static void test_decode(void **state)
{
    static const struct {
        const char *name;
        uint32_t eax, family, model, stepping;
    } rows[] = {
        {"Skylake-SP", 0x00050654, 6, 0x55, 4},
        {"Alder Lake", 0x00090672, 6, 0x97, 2},
        {"Pentium 4", 0x00000f29, 15, 2, 9},
        {"Opteron, family 15h", 0x00600f12, 0x15, 1, 2},
        {"EPYC, Zen", 0x00800f12, 0x17, 1, 2},
        {"EPYC, Zen 4", 0x00a10f11, 0x19, 0x11, 1},
        {"QEMU's qemu64", 0x00060fb1, 15, 0x6b, 1},
        {"Pentium: no extended model", 0x00020543, 5, 4, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint32_t family, model, stepping;

        cpu_model_decode(rows[i].eax, &family, &model, &stepping);
        if (family != rows[i].family || model != rows[i].model || stepping != rows[i].stepping)
            fail_msg("%s: %x:%x:%x", rows[i].name, family, model, stepping);
    }
}

static void test_core_kind(void **state)
{
    (void)state;
    assert_string_equal(cpu_model_core_kind(0x20000001), "Atom");
    assert_string_equal(cpu_model_core_kind(0x40000001), "Core");
    assert_null(cpu_model_core_kind(0));
    assert_null(cpu_model_core_kind(0x10000000)); /* reserved */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decode),
                                       cmocka_unit_test(test_core_kind)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
