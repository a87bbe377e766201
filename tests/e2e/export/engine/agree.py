"""What the viewer's engine answers against what the commands print, on one trace and selection.

usage: agree.py ASK NANOSCOPE TRACE

Every function, branch and call is compared; says what differs and exits with 1.
"""
import itertools
import json
import subprocess
import sys

ask_program, nanoscope, trace = sys.argv[1:]
failures = 0


def ask(request):
    done = subprocess.run([ask_program, trace, request], capture_output=True, check=False)
    return json.loads(done.stdout)


def run(*arguments):
    done = subprocess.run([nanoscope, *arguments, trace], capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def same(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{what}: the engine says {got}, the command {want}")


def shared_names(names):
    """Functions with one name are told apart by the commands; leave them out."""
    counts = {}
    for name in names.values():
        counts[name] = counts.get(name, 0) + 1
    return {name for name, count in counts.items() if count > 1}


def nodes_of(names, tree):
    return [[names[n[0]], *n[1:]] for n in tree["nodes"]]


def nodes_said(tree):
    return [[n["function"], n["depth"], n["calls"], n["total_ns"], n["self_ns"]]
            for n in tree["nodes"]]


def compare_sides(what, names, function, pattern, options, query):
    """Callers, callees, durations and the tree of callers of one function."""
    name = names[function]
    got = ask(f"/api/sandwich?function={function}{query}")
    for side in ("caller", "callee"):
        want = run("calls", "--by", side, "--top", "1000", "--json", *options, pattern)[side + "s"]
        same(f"{what}{side}s of {name}",
             [[names.get(other), calls, total] for other, calls, total in got[side + "s"]],
             [[w[side], w["calls"], w["total_ns"]] for w in want if w["function"] == name])
    got = ask(f"/api/tree?root={function}&invert=1&limit=100000{query}")
    want = run("tree", "--callers", "--root", pattern, "--json", *options)
    same(f"{what}callers' tree of {name}", nodes_of(names, got), nodes_said(want))
    got = ask(f"/api/histogram?function={function}{query}")
    want = run("calls", "--by", "duration", "--json", *options, pattern)["durations"]
    same(f"{what}durations of {name}", got["buckets"],
         [[w["from_ns"], w["to_ns"], w["calls"]] for w in want])


def compare(names, options, query):
    what = f"{query or 'everything'}: "
    got, want = ask("/api/report?limit=10000" + query), run("report", "--json", *options)
    if want is None:  # the command says so if nothing is left
        same(what + "calls", got["calls"], 0)
        return
    same(what + "calls", got["calls"], want["calls"])
    same(what + "bounds", got["bounds"], want["bounds"])
    rows = {names[r["function"]]: r for r in got["rows"]}
    same(what + "functions", len(got["rows"]), len(want["functions"]))
    for row in want["functions"]:
        if row["function"] not in rows:
            same(what + row["function"], None, row)
            continue
        mine = rows[row["function"]]
        for key in ("total", "self", "min", "p50", "p90", "p99", "max"):
            same(f"{what}{key} of {row['function']}", mine[key], row[key + "_ns"])
        for key in ("calls", "bounds"):
            same(f"{what}{key} of {row['function']}", mine[key], row[key])

    got, want = ask("/api/tree?limit=100000" + query), run("tree", "--json", *options)
    same(what + "total of the tree", got["total"], want["total_ns"])
    same(what + "tree", nodes_of(names, got), nodes_said(want))

    got, want = ask("/api/tree?limit=100000&invert=1" + query), run("tree", "--callers", "--json", *options)
    same(what + "callers' tree", nodes_of(names, got), nodes_said(want))

    for function, name in names.items():
        if name not in rows or rows[name]["calls"] == 0 or "--except" in options:
            continue
        pattern = "/^" + "".join(c if c.isalnum() or c == "_" else "." for c in name) + "$/"
        want = run("calls", "--json", *options, pattern)["calls"]
        got = ask(f"/api/histogram?function={function}&limit=1000{query}")
        compare_sides(what, names, function, pattern, options, query)
        want = [w for w in want if w["function"] == name]
        same(f"{what}calls of {name}",
             [[c["start"], c["end"] - c["start"], c["self"], c["depth"]]
              for c in got["longest"]][:len(want)],
             [[w["start_ns"], w["duration_ns"], w["self_ns"], w["depth"]] for w in want])


def main():
    facts = ask("/api/trace")
    names = {f["id"]: f["name"] for f in ask("/api/functions")["functions"]}
    if shared_names(names):
        print("two functions have one name: this trace cannot be compared")
        return 1
    span = facts["end"] - facts["start"]
    windows = [([], "")]
    for part, parts in itertools.product(range(3), (3,)):
        start = facts["start"] + span * part // parts
        end = facts["start"] + span * (part + 1) // parts
        windows.append((["--from", str(start), "--to", str(end)], f"&from={start}&to={end}"))
    for options, query in windows:
        compare(names, options, query)
    for name in list(names.values())[:3]:
        pattern = "/" + "".join(c if c.isalnum() else "." for c in name) + "/"
        compare(names, ["--except", pattern], "&except=" + pattern.replace("/", "%2F"))
    return 1 if failures else 0


sys.exit(main())
