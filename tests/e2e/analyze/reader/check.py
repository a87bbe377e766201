#!/usr/bin/env python3
"""usage: check.py DUMP TRACE [FROM_NS TO_NS]

Holds what libnanoscope-reader tells of a trace (DUMP is dump.c, built) against `calls`, `report`, `info` and
`query`. Prints what is wrong; exit status 1 if anything is.
"""
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict

NANOSCOPE = os.environ["NANOSCOPE"]
DUMP, TRACE = sys.argv[1:3]
WINDOW = sys.argv[3:5]
NONE, UNKNOWN = 2**32 - 1, 2**64 - 1
wrong = []


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(args), done.stderr.decode("utf8", "replace")))
    return done.stdout.decode("utf8", "replace")


def ask(verb, *args):
    return json.loads(run(NANOSCOPE, verb, "--json", *args))


def query(sql):
    return [tuple(row) for row in ask("query", sql, TRACE)["rows"]]


def text(of):
    return bytes.fromhex(of).decode("utf8", "replace")


def check(what, got, wanted):
    """Both are collections of tuples, in any order."""
    got, wanted = Counter(map(tuple, got)), Counter(map(tuple, wanted))
    if got != wanted:
        wrong.append("%s: only the library says %.300s, only nanoscope %.300s"
                     % (what, list((got - wanted).items())[:3], list((wanted - got).items())[:3]))


TOLD = defaultdict(list)
for line in run(DUMP, TRACE, *WINDOW).splitlines():
    row = json.loads(line)
    TOLD[row["kind"]].append(row)
FACTS = TOLD["facts"][0]
NAMES = {f["id"]: text(f["name"]) for f in TOLD["function"]}
THREADS = {t["id"]: t for t in TOLD["thread"]}
PIDS = {p["id"]: p["pid"] for p in TOLD["process"]}
PART = ["--from", WINDOW[0], "--to", WINDOW[1]] if WINDOW else []
HAS_QUERY = subprocess.run([NANOSCOPE, "query", "SELECT 1", TRACE], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL).returncode == 0


def check_calls():
    bounds = [None, "end", "start", "both"]
    ours = [(NAMES[c["function"]], c["start_ns"], c["duration_ns"], c["self_ns"], bounds[c["bound"]], c["depth"],
             PIDS[THREADS[c["id"]]["process"]], THREADS[c["id"]]["tid"], THREADS[c["id"]]["stack"],
             NAMES.get(c["caller"])) for c in TOLD["call"]]
    theirs = []
    if FACTS["calls"]:
        theirs = ask("calls", "--top", "1000000", "--sort", "start", *PART, TRACE, "*")["calls"]
    keys = "function start_ns duration_ns self_ns bound depth pid tid stack caller".split()
    check("calls", ours, ([c[k] for k in keys] for c in theirs))
    last = {}
    for c in TOLD["call"]:
        if c["end_ns"] < last.get(c["id"], 0):
            wrong.append("a call ends before the one ahead of it: %s" % c)
        last[c["id"]] = c["end_ns"]
    numbers = {(c["id"], c["number"]): c for c in TOLD["call"]}
    if len(numbers) != len(TOLD["call"]):
        wrong.append("numbers of calls are not unique")
    for c in TOLD["call"]:
        parent = numbers.get((c["id"], c["parent"]))
        if c["parent"] != 0 and (parent is None or parent["function"] != c["caller"] or parent["depth"] + 1 != c["depth"]):
            wrong.append("%s has the parent %s" % (c, parent))


def check_totals():
    keys = "calls bounds total_ns self_ns min_ns p50_ns p90_ns p99_ns max_ns".split()
    theirs = ask("report", *PART, TRACE)["functions"]
    check("totals", ([NAMES[t["id"]]] + [t[k] for k in keys] for t in TOLD["total"]),
          ([f["function"]] + [f[k] for k in keys] for f in theirs if f["calls"]))
    totals = [t["total_ns"] for t in TOLD["total"]]
    if totals != sorted(totals, reverse=True):
        wrong.append("totals are not sorted")


def check_tables():
    null = lambda value, nothing: None if value == nothing else value
    check("functions", ((f["id"], text(f["name"]), text(f["module"]) if "module" in f else None, text(f["file"]) or None,
                         f["line"] or None) for f in TOLD["function"] if f["canonical"] == f["id"]),
          query("SELECT function_id, name, module, file, line FROM functions"))
    check("threads", ((t["id"], t["tid"], text(t["name"]), t["start_ns"], null(t["end_ns"], UNKNOWN), t["process"],
                       t["stack"], t["lost"]) for t in TOLD["thread"]), query("SELECT * FROM threads"))
    check("processes", ((p["id"], p["pid"], text(p["name"]), p["start_ns"], null(p["end_ns"], UNKNOWN),
                         null(p["parent"], NONE)) for p in TOLD["process"]),
          query("SELECT process_id, pid, name, start_ns, end_ns, parent_process_id FROM processes"))
    check("losses", ((null(x["id"], NONE), null(x["time_ns"], UNKNOWN), x["events"] or None) for x in TOLD["loss"]),
          query("SELECT thread_id, time_ns, events FROM losses"))
    known = lambda x, bit, key: x[key] if x["known"] & bit else None
    check("left out", ((null(x["function"], NONE), null(x["process"], NONE), text(x["reason"]), x["from_ns"],
                        null(x["to_ns"], UNKNOWN), known(x, 1, "calls"), known(x, 2, "total_ns"), known(x, 4, "self_ns"))
                       for x in TOLD["left_out"]),
          query("SELECT function_id, process_id, reason, from_ns, to_ns, calls, total_ns, self_ns FROM left_out"))


def check_notes():
    where = " WHERE %s >= {} AND %s < {}".format(*WINDOW) if WINDOW else ""
    at = lambda column: where.replace("%s", column)
    check("samples", ((s["id"], s["time_ns"], s["cpu_ns"] if s["known"] & 1 else None,
                       s["freed_bytes"] if s["known"] & 256 else None) for s in TOLD["sample"]),
          query("SELECT thread_id, time_ns, cpu_ns, freed_bytes FROM samples" + at("time_ns")))
    check("marks", ((m["id"], m["time_ns"], text(m["name"]), text(m["text"])) for m in TOLD["mark"]),
          query("SELECT thread_id, time_ns, name, text FROM marks" + at("time_ns")))
    check("counters", [(c["id"], None, c["time_ns"], text(c["name"]), c["value"]) for c in TOLD["counter"]]
          + [(None, c["id"], c["time_ns"], text(c["name"]), c["value"]) for c in TOLD["process_counter"]],
          query("SELECT thread_id, process_id, time_ns, name, value FROM counters" + at("time_ns")))
    if not WINDOW:
        changes = {(s["id"], s["time_ns"], s["state"]) for s in TOLD["state"]}
        for row in query("SELECT thread_id, start_ns, state_id FROM states"):
            first = not any(s["id"] == row[0] and s["time_ns"] <= row[1] for s in TOLD["state"])
            if row not in changes and not first:
                wrong.append("state %s is not told" % (row,))
    for s in TOLD["sample"]:
        if s["more"] != 0:
            wrong.append("a value that no sample has: %s" % s)


check_calls()
check_totals()
if HAS_QUERY:
    check_notes()
    if not WINDOW:
        check_tables()
if not WINDOW:
    info = ask("info", TRACE)
    for key in ("calls", "events", "lost"):
        if FACTS[key] != info[key]:
            wrong.append("%s: %d, not %d" % (key, FACTS[key], info[key]))
    for kind, key in (("sample", "samples"), ("state", "states"), ("mark", "marks"), ("call", "calls")):
        if len(TOLD[kind]) != FACTS[key]:
            wrong.append("%d of %d %s" % (len(TOLD[kind]), FACTS[key], key))
print("\n".join(wrong))
sys.exit(bool(wrong))
