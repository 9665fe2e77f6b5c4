"""Instructions of the page allocator, of the image's code run hosted (tests/bench/bench_alloc.c)."""
import callgrind
import table

ROWS = {
    "alloc_4k_hit": ("4 KiB, one is on its list", 150),
    "alloc_4k_split": ("4 KiB, a GiB is halved 18 times", 600),
    "alloc_2m_hit": ("2 MiB, one is on its list", 150),
    "alloc_2m_split": ("2 MiB, a GiB is halved 9 times", 400),
    "free_4k": ("free 4 KiB, the buddy is in use", 200),
    "free_4k_join": ("free 4 KiB, joins 18 times to a GiB", 1400),
    "free_2m": ("free 2 MiB, the buddy is in use", 200),
    "free_2m_join": ("free 2 MiB, joins 9 times to a GiB", 800),
}


def bench():
    measured, _ = callgrind.count("alloc")
    table.show("Instructions of the page allocator",
               [(what, measured[name], aim, "") for name, (what, aim) in ROWS.items()])
    return measured
