"""usage: depths.py describe FORM     a trace of deep calls, for make_trace
       depths.py compare FORM WIDTH <ANSWER     whether /api/overview has in each column the greatest number of open calls

Forms: ramp, 100,000 calls deep; comb, 30,000 deep and many short calls there, with pauses."""
import json
import sys

NS = 10


def changes(form):
    """Times, and whether a call begins there."""
    top, teeth = {"ramp": (100000, 0), "comb": (30000, 60000)}[form]
    at = 1000
    for _ in range(top):
        yield at, True
        at += NS
    for tooth in range(teeth):
        yield at, True
        yield at + 3, False
        at += NS if tooth % 10000 else 300000
    for _ in range(top):
        yield at, False
        at += NS


def describe(form):
    print("process 1 prog\nthread 1 main")
    for i, (at, begins) in enumerate(changes(form)):
        print(f"{at} enter f{i % 7}" if begins else f"{at} exit")
    print(f"{at} close")


def compare(form, width):
    answer = json.load(sys.stdin)
    times = list(changes(form))
    first, last = times[0][0], times[-1][0]
    step = (last - first) // width + 1
    width = (last - first) // step + 1
    want = [0] * width
    open_calls, since = 0, first
    for at, begins in times:
        for column in range((since - first) // step, (at - first) // step + 1):
            want[column] = max(want[column], open_calls)
        open_calls += 1 if begins else -1
        since = at
    wrong = [i for i in range(width) if want[i] != answer["depth"][i]]
    print("same" if not wrong else f"{len(wrong)} of {width}, column {wrong[0]}: "
          f"{answer['depth'][wrong[0]]}, not {want[wrong[0]]}")


if sys.argv[1] == "describe":
    describe(sys.argv[2])
else:
    compare(sys.argv[2], int(sys.argv[3]))
