"""A table of figures with their aims: one way to print it for every benchmark."""


def show(title, rows):
    """rows: (what, instructions, the most it should be or None, remark)."""
    print(title)
    print(f"  {'':36}{'measured':>12}{'aim':>12}")
    for what, value, aim, remark in rows:
        missed = "missed" if aim and value > aim else ""
        aim_text = f"{aim:,}" if aim else "-"
        print(f"  {what:36}{value:>12,}{aim_text:>12}  {missed or remark}".rstrip())
