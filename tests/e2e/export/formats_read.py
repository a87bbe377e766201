"""Turn what other tools print of our exports, or the files themselves, into lines for comparison.

usage: formats_read.py WHAT [FILE]   (standard input without FILE)
Called by test_formats_consumers; each function below says what it prints.
"""
import csv
import glob
import json
import re
import sys


def report(lines):
    """`nanoscope report --format csv`: function, calls, total, self."""
    return [f"{r['function']} {r['calls']} {r['total_ns']} {r['self_ns']}" for r in csv.DictReader(lines)]


def same_reports(there, back, controls=""):
    """Two reports as CSV, of a trace and of what came back of it: what differs by more than the nanosecond to which each time
    of a call was rounded, or "same". Bytes that are not UTF-8 became U+FFFD, and control characters what @controls says."""
    rows = [{r["function"]: r for r in csv.DictReader(open(path, encoding="utf8", errors="replace", newline=""))} for path in (there, back)]
    if controls:
        rows[0] = {re.sub("[\x01-\x1f\x7f]", controls, name): r for name, r in rows[0].items()}
    out = [f"only in one: {name}" for name in rows[0].keys() ^ rows[1].keys()]
    for name in rows[0].keys() & rows[1].keys():
        a, b = ({k: int(v) for k, v in r[name].items() if k != "function"} for r in rows)
        rest = 2 * a["calls"] + 2
        close = all(abs(a[k] - b[k]) <= rest for k in ("total_ns", "self_ns"))
        if a["calls"] != b["calls"] or not close or any(abs(a[k] - b[k]) > 2 for k in ("min_ns", "max_ns")):
            out.append(f"{name}: {a} is not {b}")
    return out or ["same"]


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


def callgrind_annotate(lines):
    """`callgrind_annotate --threshold=100`: function, ns, but for the (root) that stands for nobody."""
    found = (re.match(r"\s*([\d,]+) (?:\(.*?\))?\s+\S+?:(.*) \[.*\]$", line) for line in lines)
    return [f"{m[2]} {m[1].replace(',', '')}" for m in found if m and m[2] != "(root)"]


def callgrind_calls(lines):
    """A callgrind file: function, how often it was called."""
    names, calls, callee = {}, {}, None
    for line in lines:
        if m := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            names.setdefault(m[1], m[2])
            callee = m[1]
        elif m := re.match(r"calls=(\d+) ", line):
            calls[callee] = calls.get(callee, 0) + int(m[1])
    return [f"{names[i]} {calls[i]}" for i in calls]


def tau(folder):
    """TAU profiles: function, calls, total, self (in ns), over all threads."""
    sums = {}
    for path in sorted(glob.glob(folder + "/profile.*.*.*")):
        lines = open(path, errors="surrogateescape").read().split("\n")
        count = int(re.fullmatch(r"(\d+) templated_functions_MULTI_TIME", lines[0])[1])
        assert lines[1].startswith("# Name Calls Subrs Excl Incl ProfileCalls")
        assert lines[2 + count :] == ["0 aggregates", "0 userevents", ""]
        for line in lines[2 : 2 + count]:
            name, calls, _, own, total = re.fullmatch(
                r'"([^"]*)" (\d+) (\d+) (\d+\.\d{3}) (\d+\.\d{3}) 0 GROUP="TAU_USER"', line
            ).groups()
            row = sums.setdefault(name, [0, 0, 0])
            for i, value in enumerate((calls, total, own)):
                row[i] += int(value.replace(".", ""))
    return [f"{name} {row[0]} {row[1]} {row[2]}" for name, row in sums.items()]


class Stack:
    """Sums calls up from begins and ends, as a report has them."""

    def __init__(self):
        self.open, self.rows = [], {}

    def begin(self, name, at):
        assert not self.open or at >= self.last
        self.open.append([name, at, 0])
        self.last = at

    def end(self, name, at):
        opened, start, inside = self.open.pop()
        assert (name is None or opened == name) and at >= self.last
        row = self.rows.setdefault(opened, [0, 0, 0])
        row[0] += 1
        row[2] += at - start - inside
        if all(call[0] != opened for call in self.open):
            row[1] += at - start
        if self.open:
            self.open[-1][2] += at - start
        self.last = at


def lines_of(stacks):
    sums = {}
    for stack in stacks:
        assert not stack.open
        for name, row in stack.rows.items():
            sums[name] = [a + b for a, b in zip(sums.get(name, [0, 0, 0]), row)]
    return [f"{name} {row[0]} {row[1]} {row[2]}" for name, row in sums.items()]


def speedscope(source):
    """speedscope's JSON: function, calls, total, self."""
    file, stacks = json.load(source), []
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in file["shared"]["frames"]]
    for profile in file["profiles"]:
        assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
        stack = Stack()
        for event in profile["events"]:
            assert profile["startValue"] <= event["at"] <= profile["endValue"]
            {"O": stack.begin, "C": stack.end}[event["type"]](names[event["frame"]], event["at"])
        stacks.append(stack)
    return lines_of(stacks)


def babeltrace(lines):
    """`babeltrace2 --clock-cycles` of a CTF folder: function, calls, total, self."""
    stacks = {}
    for line in lines:
        m = re.match(
            r'\[0*(\d+)\] .*?func_(entry|exit): \{ (pid = \d+, tid = \d+, stack = \d+), .*?'
            r'\{ function = \( "((?:[^"\\]|\\.)*)" : container = \d+ \)',
            line,
        )
        assert m, line
        stack = stacks.setdefault(m[3], Stack())
        name = re.sub(r"\\(.)", r"\1", m[4])
        {"entry": stack.begin, "exit": stack.end}[m[2]](name, int(m[1]))
    return lines_of(stacks.values())


def uftrace_dump(lines):
    """`uftrace dump`: function, calls, total, self."""
    stacks = {}
    for line in lines:
        m = re.match(r"(\d+)\.(\d{9}) +(\d+): \[(entry|exit )\] (.*)\([0-9a-f]+\) depth: (\d+)$", line)
        if not m:
            assert "[entry" not in line and "[exit" not in line, line
            continue
        stack = stacks.setdefault(m[3], Stack())
        if m[4] == "entry":
            assert int(m[6]) == len(stack.open)
        {"entry": stack.begin, "exit ": stack.end}[m[4]](m[5], int(m[1] + m[2]))
    return lines_of(stacks.values())


def uftrace_report(lines):
    """`uftrace report`: function, calls."""
    found = (re.match(r"(?: +[\d.]+ +\w+ +[\d.]+ +\w+)? +(\d+)  (.*)$", line) for line in lines)
    return [f"{m[2]} {m[1]}" for m in found if m]


def uftrace_time(ns):
    """A time as uftrace shows it: three digits and a unit, the rest cut off."""
    value, rest, units = ns // 1000, ns % 1000, ["us", "ms", "s", "m", "h"]
    for limit in (1000, 1000, 60, 60):
        if value < limit:
            break
        value, rest = value // limit, value % limit
        units.pop(0)
    return f"{value}.{rest:03} {units[0]}"


def uftrace_rounded(lines):
    """Our report as `uftrace report` has it: function, calls, total, self."""
    rows = csv.DictReader(lines)
    return [
        f"{r['function']} {r['calls']} {uftrace_time(int(r['total_ns']))} {uftrace_time(int(r['self_ns']))}"
        for r in rows
    ]


def uftrace_times(lines):
    """`uftrace report`: function, calls, total, self."""
    found = (re.match(r" +([\d.]+ +\w+) +([\d.]+ +\w+) +(\d+)  (.*)$", line) for line in lines)
    return [f"{m[4]} {m[3]} {' '.join(m[1].split())} {' '.join(m[2].split())}" for m in found if m]


def firefox(source):
    """A processed profile of the Firefox Profiler: function, total, self (in ns), where they are not 0."""
    file, sums = json.load(source), {}
    assert file["meta"]["preprocessedProfileVersion"] == 48
    for thread in file["threads"]:
        for table in ("samples", "stackTable", "frameTable", "funcTable"):
            columns = [c for c in thread[table].values() if isinstance(c, list)]
            assert columns and all(len(c) == thread[table]["length"] for c in columns)
        stacks, samples = thread["stackTable"], thread["samples"]
        assert samples["weightType"] == "tracing-ms"
        path = []  # by stack: the names in it
        for prefix, frame in zip(stacks["prefix"], stacks["frame"]):
            name = thread["funcTable"]["name"][thread["frameTable"]["func"][frame]]
            path.append((path[prefix] if prefix is not None else ()) + (thread["stringArray"][name],))
        times = [round(t * 1e6) for t in samples["time"]]
        spans = [b - a for a, b in zip(times, times[1:])] + [0]
        assert spans == [round(w * 1e6) for w in samples["weight"]] and min(spans[:-1]) > 0
        assert samples["stack"][-1] is None
        for stack, span in zip(samples["stack"], spans):
            for name in set(path[stack] if stack is not None else ()):
                row = sums.setdefault(name, [0, 0])
                row[0] += span
                row[1] += span if name == path[stack][-1] else 0
    return [f"{name} {row[0]} {row[1]}" for name, row in sums.items()]


def main():
    if sys.argv[1] in ("tau",):
        print("\n".join(sorted(globals()[sys.argv[1]](sys.argv[2]))))
        return
    if sys.argv[1] == "same_reports":
        print("\n".join(same_reports(*sys.argv[2:])), end="")
        return
    source = open(sys.argv[2], errors="surrogateescape") if len(sys.argv) > 2 else sys.stdin
    sys.stdout.reconfigure(errors="surrogateescape")
    print("\n".join(sorted(globals()[sys.argv[1]](source))))


main()
