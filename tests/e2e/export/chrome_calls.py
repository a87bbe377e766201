#!/usr/bin/env python3
"""Print the calls of a Chrome JSON trace: tid depth start_ns duration_ns bound clipped name, sorted.

Stops at anything that a strict reader would stumble over: invalid JSON, ends that do not fit.
"""
import decimal
import gzip
import json
import sys

path = sys.argv[1]
with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
    trace = json.loads(file.read().decode("utf-8"), parse_float=decimal.Decimal)

open_calls, calls, last = {}, [], {}
for event in trace["traceEvents"]:
    thread = event["pid"], event["tid"]
    if event["ph"] == "M":
        assert event["args"]["name"]
        continue
    stack = open_calls.setdefault(thread, [])
    assert event["ts"] >= last.get(thread, 0), event
    last[thread] = event["ts"]
    if event["ph"] == "B":
        stack.append(event)
    elif event["ph"] == "E":
        begin = stack.pop()
        assert begin["name"] == event["name"], (begin, event)
        marks = event.get("args", {})
        calls.append((event["tid"], len(stack), int(begin["ts"] * 1000),
                      int((event["ts"] - begin["ts"]) * 1000), marks.get("bound", "-"),
                      marks.get("clipped", "-"), json.dumps(event["name"])))
    else:
        assert event["ph"] == "i" and event["name"] == "events lost", event
assert not any(open_calls.values()), open_calls
for call in sorted(calls):
    print(*call)
