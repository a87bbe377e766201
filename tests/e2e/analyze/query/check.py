#!/usr/bin/env python3
"""usage: check.py TRACE [SEED]

Holds what `query` says of a trace against `calls`, `replay`, `report` and sums made here, and what it
says when a condition is passed down to the file against the same condition that is not (+column).
Prints what is wrong; exit status 1 if anything is.
"""
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict

NANOSCOPE = os.environ["NANOSCOPE"]
TRACE = sys.argv[1]
RANDOM = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
wrong = []


def run(*args):
    done = subprocess.run([NANOSCOPE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(args), done.stderr.decode("utf8", "replace")))
    return done.stdout.decode("utf8", "replace")


def query(sql):
    result = json.loads(run("query", "--json", sql, TRACE))
    return [tuple(row) for row in result["rows"]]


def check(what, got, wanted, slack=0):
    same = abs(got - wanted) <= slack if slack else got == wanted
    if not same:
        wrong.append("%s: %.300s, not %.300s" % (what, got, wanted))


def differ(a, b):
    return list((Counter(a) - Counter(b)).items())[:3], list((Counter(b) - Counter(a)).items())[:3]


ROWS = query("""SELECT call_id, parent_id, thread_id, function_id, depth, c.start_ns, duration_ns, self_ns, bound,
    caller_id, f.name, p.pid, t.tid, t.stack FROM calls c JOIN functions f USING (function_id)
    JOIN threads t USING (thread_id) JOIN processes p USING (process_id)""")
(ID, PARENT, THREAD, FUNCTION, DEPTH, START, DURATION, SELF, BOUND, CALLER, NAME, PID, TID, STACK) = range(14)
BY_ID = {row[ID]: row for row in ROWS}
HAS_LATE = any(row[BOUND] in ("start", "both") for row in ROWS)


def check_calls():
    """The same calls as `calls` lists."""
    listed = json.loads(run("calls", "--json", "--top", "1000000", "--sort", "start", TRACE, "*"))["calls"] if ROWS else []
    ours = [(r[NAME], r[START], r[DURATION], r[SELF], r[BOUND], r[DEPTH], r[PID], r[TID], r[STACK]) for r in ROWS]
    theirs = [tuple(c[k] for k in ("function", "start_ns", "duration_ns", "self_ns", "bound", "depth", "pid", "tid", "stack"))
              for c in listed]
    check("calls", differ(ours, theirs), ([], []))


def check_nesting():
    """Ids are numbers by entry; a parent is a call of the same thread that was open."""
    check("ids", len(BY_ID), len(ROWS))
    numbers = defaultdict(list)
    for row in ROWS:
        numbers[row[THREAD]].append(row[ID] - (row[THREAD] << 40))
        parent = BY_ID.get(row[PARENT])
        check("%s has a parent" % (row,), row[PARENT] is None, row[DEPTH] == 0)
        if parent is None:
            check("caller of %s" % (row,), row[CALLER], None)
            continue
        check("thread of %s" % (row,), parent[THREAD], row[THREAD])
        check("depth of %s" % (row,), parent[DEPTH] + 1, row[DEPTH])
        check("caller of %s" % (row,), row[CALLER], parent[FUNCTION])
        if parent[START] > row[START] or parent[START] + parent[DURATION] + 2 < row[START] + row[DURATION]:
            wrong.append("%s is not inside of %s" % (row, parent))
    for thread, those in numbers.items():
        check("numbers of thread %d" % thread, sorted(those), list(range(1, len(those) + 1)))
    if not HAS_LATE:
        below = defaultdict(int)
        for row in ROWS:
            below[row[PARENT]] += row[DURATION]
        children = Counter(row[PARENT] for row in ROWS)
        for row in ROWS:
            check("self of %s" % (row,), row[SELF], row[DURATION] - below[row[ID]], children[row[ID]] + 2)


def check_replay():
    """The same callers as a replay shows, which nests events itself."""
    open_calls, ours, theirs, durations = defaultdict(list), [], [], []
    for line in run("replay", "--json", TRACE).splitlines():
        event = json.loads(line)
        stack = open_calls[event.get("pid"), event.get("tid"), event.get("stack")]
        kind = event["kind"]
        if kind not in ("begin", "call", "end", "late_end"):
            continue
        if kind == "end":
            stack.pop()
            durations.append((event["function"], event["depth"], event["duration_ns"]))
            continue
        theirs.append((event["function"], stack[-1] if stack else None, event["depth"]))
        if kind == "begin":
            stack.append(event["function"])
        if kind == "call":
            durations.append((event["function"], event["depth"], event["duration_ns"]))
    names = {r[FUNCTION]: r[NAME] for r in ROWS}
    ours = [(r[NAME], names.get(r[CALLER]), r[DEPTH]) for r in ROWS]
    check("callers", differ(ours, theirs), ([], []))
    late = Counter(r[NAME] for r in ROWS if r[BOUND] == "start")
    if not late:
        check("durations", differ([(r[NAME], r[DEPTH], r[DURATION]) for r in ROWS], durations), ([], []))


def outermost(row):
    at = BY_ID.get(row[PARENT])
    while at is not None:
        if at[FUNCTION] == row[FUNCTION]:
            return False
        at = BY_ID.get(at[PARENT])
    return True


def check_report():
    report = json.loads(run("report", "--json", TRACE))
    check("calls of the report", report["calls"], query("SELECT count(*) FROM calls")[0][0])
    check("bounds of the report", report["bounds"], query("SELECT count(*) FROM calls WHERE bound IS NOT NULL")[0][0])
    sums = defaultdict(lambda: [0, 0, [], 0])
    for row in ROWS:
        of = sums[row[NAME]]
        of[0] += 1
        of[1] += row[SELF]
        of[2].append(row[DURATION])
        of[3] += row[DURATION] if outermost(row) else 0
    told = defaultdict(lambda: [0, 0, None, None, 0])
    for f in report["functions"]:
        if f["calls"] == 0:
            continue
        of = told[f["function"]]
        of[0] += f["calls"]
        of[1] += f["self_ns"]
        of[2] = f["min_ns"] if of[2] is None else min(of[2], f["min_ns"])
        of[3] = f["max_ns"] if of[3] is None else max(of[3], f["max_ns"])
        of[4] += f["total_ns"]
    check("functions", sorted(sums), sorted(told))
    for name, (calls, self_ns, durations, total) in sums.items():
        check("calls of %s" % name, calls, told[name][0])
        check("self time of %s" % name, self_ns, told[name][1], calls + 1)
        check("shortest of %s" % name, min(durations), told[name][2])
        check("longest of %s" % name, max(durations), told[name][3])
        if not HAS_LATE:
            check("total of %s" % name, total, told[name][4], calls + 1)
    for function, calls, self_ns, least, most in query(
            "SELECT name, count(*), sum(self_ns), min(duration_ns), max(duration_ns) FROM calls JOIN functions "
            "USING (function_id) GROUP BY name"):
        check("sums of %s" % function, (calls, self_ns, least, most),
              (sums[function][0], sums[function][1], min(sums[function][2]), max(sums[function][2])))


def check_percentiles():
    durations = sorted(row[DURATION] for row in ROWS)
    for p in (0, 1, 33.3, 50, 90, 99, 100) if durations else ():
        rank = max(1, math.ceil(p / 100 * len(durations)))
        check("percentile %g" % p, query("SELECT percentile(duration_ns, %g) FROM calls" % p)[0][0], durations[rank - 1])
        check("percentile %g of halves" % p, query("SELECT percentile(duration_ns / 2.0, %g) FROM calls" % p)[0][0],
              durations[rank - 1] / 2)


def check_shares():
    report = json.loads(run("report", "--by", "category", "--json", TRACE))
    told = {row["category"]: (row["calls"], row["self_ns"]) for row in report["categories"]}
    sums = {name: (calls, self_ns) for name, calls, self_ns in
            query("SELECT category, count(*), sum(self_ns) FROM calls JOIN functions USING (function_id) GROUP BY 1")}
    check("categories", sorted(sums), sorted(told))
    for name, (calls, self_ns) in sums.items():
        check("calls of %s" % name, calls, told[name][0])
        check("time of %s" % name, self_ns, told[name][1], calls + 1)
    check("time of all", sum(row[1] for row in told.values()), report["self_ns"])


def check_threads():
    info = json.loads(run("info", "--json", TRACE))
    check("lost", query("SELECT coalesce(sum(events), 0) FROM losses")[0][0], info["lost"])
    usage = subprocess.run([NANOSCOPE, "report", "--threads", "--json", TRACE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if usage.returncode != 0:
        check("samples and states", query("SELECT (SELECT count(*) FROM samples) + (SELECT count(*) FROM states)"), [(0,)])
        return
    for row in json.loads(usage.stdout)["threads"]:
        at = "WHERE thread_id IN (SELECT thread_id FROM threads JOIN processes USING (process_id) " \
             "WHERE tid = %d AND stack = 0 AND pid = %d)" % (row["tid"], row["pid"])
        samples, cpu, over = query("SELECT count(*), max(cpu_ns) - min(cpu_ns), max(time_ns) - min(time_ns) FROM samples " + at)[0]
        check("samples of %s" % row["name"], samples, row["samples"])
        if samples > 1:
            check("CPU time of %s" % row["name"], cpu, row["cpu_ns"])
            check("time of the samples of %s" % row["name"], over, row["sampled_ns"])
        states = dict(query("SELECT state_id, sum(duration_ns) FROM states " + at + " GROUP BY 1"))
        for state, key in ((1, "running_ns"), (2, "runnable_ns"), (3, "sleeping_ns"), (4, "blocked_io_ns"),
                           (5, "blocked_lock_ns"), (6, "stopped_ns")):
            if states:
                check("%s of %s" % (key, row["name"]), states.get(state, 0), row[key])


def some(column):
    return RANDOM.choice(ROWS)[column]


def conditions():
    """A few conditions as SQL, each with %s where the column's name may be kept from the index by a +."""
    kinds = [
        lambda: ("%%sthread_id = %d" % some(THREAD)),
        lambda: ("%%sthread_id IN (%d, %d)" % (some(THREAD), some(THREAD))),
        lambda: ("%%sfunction_id = %d" % some(FUNCTION)),
        lambda: ("%%sfunction_id IN (%d, %d, 'x', NULL)" % (some(FUNCTION), some(FUNCTION))),
        lambda: ("%%sstart_ns %s %s" % (RANDOM.choice(("<", "<=", ">", ">=", "=")),
                                        some(START) + RANDOM.choice((0, 0, 1, -1, 0.5)))),
        lambda: ("%%sstart_ns BETWEEN %d AND %d" % tuple(sorted((some(START), some(START))))),
        lambda: ("%%sdepth %s %s" % (RANDOM.choice(("<", "<=", ">", ">=", "=")), some(DEPTH) + RANDOM.choice((0, 0.5)))),
        lambda: ("%%scall_id = %d" % some(ID)),
        lambda: ("%%sparent_id = %d" % some(ID)),
        lambda: ("(%%sstart_ns > %d OR %%sdepth = %d)" % (some(START), some(DEPTH))),
        lambda: ("%%sstart_ns > %s" % RANDOM.choice(("NULL", "-1", "1e300", "9223372036854775807"))),
    ]
    return " AND ".join(RANDOM.choice(kinds)() for _ in range(RANDOM.randint(1, 3)))


def check_conditions():
    for _ in range(0 if not ROWS else 120 if len(ROWS) < 10000 else 30):
        where = conditions()
        plain, passed = where.replace("%s", "+"), where.replace("%s", "")
        columns = RANDOM.choice(("*", "call_id, self_ns", "call_id, parent_id, caller_id", "count(*), sum(duration_ns)"))
        check("WHERE " + passed, query("SELECT %s FROM calls WHERE %s" % (columns, passed)),
              query("SELECT %s FROM calls WHERE %s" % (columns, plain)))
    for table, column in (("samples", "time_ns"), ("states", "start_ns"), ("marks", "time_ns"), ("counters", "time_ns"),
                          ("losses", "time_ns"), ("functions", "function_id"), ("threads", "thread_id")):
        values = [row[0] for row in query("SELECT %s FROM %s" % (column, table))]
        for _ in range(8 if values else 0):
            end = "%s %s %s" % (column, RANDOM.choice(("=", ">=", ">", "<")), RANDOM.choice(values) or 0)
            where = RANDOM.choice(("", "thread_id = 0 AND ") if "time_ns" == column else ("",))
            check("%s WHERE %s%s" % (table, where, end), query("SELECT * FROM %s WHERE %s%s" % (table, where, end)),
                  query("SELECT * FROM %s WHERE %s+%s" % (table, where.replace("thread", "+thread"), end)))
    check("threads in order", query("SELECT thread_id, count(*) FROM calls GROUP BY thread_id"),
          query("SELECT +thread_id, count(*) FROM calls GROUP BY 1"))
    sums = "count(*), sum(self_ns), max(call_id), sum(depth) FROM calls GROUP BY 1"
    check("calls by function", query("SELECT function_id, " + sums), query("SELECT +function_id, " + sums))
    check("by function and thread",
          query("SELECT function_id, thread_id, count(*) FROM calls GROUP BY 1, 2"),
          query("SELECT +function_id, +thread_id, count(*) FROM calls GROUP BY 1, 2"))
    some = "FROM calls WHERE function_id IN (0, 2, 5) AND depth > 0 ORDER BY "
    check("calls of some in that order", query("SELECT function_id " + some + "function_id"),
          query("SELECT function_id " + some + "+function_id"))


for part in (check_calls, check_nesting, check_replay, check_report, check_percentiles, check_shares, check_threads,
             check_conditions):
    part()
    if wrong:
        print("%s: %s" % (part.__name__, "\n".join(wrong[:5])))
        sys.exit(1)
print("%d calls" % len(ROWS))
