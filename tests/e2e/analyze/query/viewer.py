#!/usr/bin/env python3
"""usage: viewer.py TRACE [stack]

Asks what the manual of `nanoscope query` shows for the callers of a call and for the depth over time, and the viewer's
engine for the same: the page's details and its minimap. The minimap is exact of short traces whose
ticks are nanoseconds; of others only stacks are compared.
"""
import json
import os
import re
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
TRACE = sys.argv[1]
WIDTH = 50


def run(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def sql(statement):
    return run(os.environ["NANOSCOPE"], "query", "--json", statement, TRACE)["rows"]


def ask(request):
    return run(os.path.join(BUILD, "tests/e2e/ask"), TRACE, request)


def example(begin):
    """The statement that the manual gives below a line."""
    with open("docs/man/nanoscope-query.md", encoding="utf-8") as manual:
        text = manual.read()
    below = text[text.index("\n" + begin) :]
    return re.search(r"""nanoscope query (["'])(.*?)\1 prog.nst""", below, re.S).group(2)


def check(what, got, want):
    if got != want:
        sys.exit(f"{TRACE}: {what}: SQL {got}, viewer {want}")


def check_stack(statement, name):
    rows = sql(statement.replace("parse_line", name.replace("'", "''")))
    thread, start = sql(
        "SELECT thread_id, start_ns FROM calls WHERE duration_ns = %d AND start_ns = %d AND depth = %d"
        % (rows[-1][3], rows[-1][2], rows[-1][0])
    )[0]
    call = ask(f"/api/call?thread={thread}&at={start}&depth={rows[-1][0]}")
    names = dict(sql("SELECT function_id, name FROM functions"))
    frames = call["stack"] + [call]
    want = [[i, names[f["function"]], f["start"]] for i, f in enumerate(frames)]
    check(f"the stack of {name}", [row[:3] for row in rows], want)
    # Ends are rounded by themselves there, durations here.
    for row, frame in zip(rows, frames):
        if abs(row[3] - (frame["end"] - frame["start"])) > 1:
            sys.exit(f"{TRACE}: {row} lasts otherwise in {frame}")


def check_depth(statement, losses):
    overview = ask(f"/api/overview?width={WIDTH}")
    trace = ask("/api/trace")
    step = (trace["end"] - trace["start"]) // WIDTH + 1
    # The manual's columns begin at 0, those of the minimap where the trace does.
    begin = trace["start"]
    moved = statement.replace("start_ns / 10000000", f"(start_ns - {begin}) / {step}")
    moved = moved.replace("(start_ns + duration_ns) /", f"(start_ns + duration_ns - {begin}) /")
    moved = moved.replace("10000000", str(step)).replace("step * 10 AS ms", "step")
    depth = [0] * len(overview["depth"])
    for column, most in sql(moved):
        depth[min(column, len(depth) - 1)] = most
    check("depth", depth, overview["depth"])
    lost = [0] * len(depth)
    rows = sql(losses.replace("time_ns / 10000000 * 10", f"(time_ns - {begin}) / {step}"))
    for column, events in rows:
        if column is not None:
            lost[min(column, len(lost) - 1)] = events
    check("losses", lost, overview["lost"])


def main():
    stack = example("The slowest call of parse_line and all of its callers")
    depth = example("How many calls are open at most")
    losses = example("    nanoscope query 'SELECT time_ns")
    names = sql("SELECT DISTINCT name FROM functions WHERE function_id IN (SELECT function_id FROM calls)")
    if not names:
        sys.exit(f"{TRACE}: no calls")
    for (name,) in names[:20]:
        check_stack(stack, name)
    if sys.argv[2:] != ["stack"]:
        check_depth(depth, losses)


main()
