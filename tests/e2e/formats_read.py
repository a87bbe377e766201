"""Turn what other tools print of our exports, or the files themselves, into lines for comparison.

usage: formats_read.py WHAT [FILE]   (standard input without FILE)
Called by test_formats_consumers; each function below says what it prints.
"""
import csv
import re
import sys


def report(lines):
    """`nanoscope report --format csv`: function, calls, total, self."""
    return [f"{r['function']} {r['calls']} {r['total_ns']} {r['self_ns']}" for r in csv.DictReader(lines)]


def pprof_top(lines):
    """`go tool pprof -top`: function, cumulative, own; without units."""
    out = []
    for line in lines:
        cells = line.rstrip("\n").split(None, 5)
        if len(cells) == 6 and cells[1].endswith("%"):
            own, total = (re.sub("ns$", "", cells[i]) for i in (0, 3))
            # Columns are set apart by spaces on the left; two stand before the name.
            out.append(f"{cells[5]} {total} {own}")
    return out


def pprof_traces(lines):
    """`go tool pprof -traces`: value, then functions from the innermost outwards, parted by `|`."""
    out, open_stack = [], []
    for line in lines:
        if line.startswith("-"):
            out += ["|".join(open_stack)] if open_stack else []
            open_stack = []
        elif line.startswith(" " * 13):
            open_stack.append(line.strip())
        elif line.startswith(" "):
            open_stack = line.strip().split(None, 1)
    return out


def main():
    source = open(sys.argv[2], errors="surrogateescape") if len(sys.argv) > 2 else sys.stdin
    sys.stdout.reconfigure(errors="surrogateescape")
    print("\n".join(sorted(globals()[sys.argv[1]](source))))


main()
