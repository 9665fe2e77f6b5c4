"""An interrupt that comes while a vCPU's HLT is still on its way in is not lost in numen-sim."""

import pytest

SCENARIO = """
[run]
duration=20ms
[machine]
sockets=1
cores=2
threads=1
exit=100ns
ipi=100ns
wake=100ns
switch=100ns
halt={halt}
[vm a]
vcpus=2
workload=pingpong
work=200ns
"""


@pytest.mark.parametrize("halt", ("0", "100ns", "400ns", "600ns", "1us", "5us", "50us"))
def test_pingpong_goes_on_whatever_a_halt_takes(sim, halt):
    rate = sim.medians(SCENARIO.format(halt=halt))["a"]["rate"]
    assert rate > 0.9e6 / 150  # at worst two halts and their exits a trip
