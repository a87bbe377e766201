#!/usr/bin/env python3
"""usage: check.py PARQUET TRACE

Holds every row that DuckDB reads from an exported file against `nanoscope query`. Prints what is wrong; exit
status 1 if anything is.
"""
import json
import os
import subprocess
import sys
from collections import Counter

PARQUET, TRACE = sys.argv[1:3]
COLUMNS = """call_id parent_id thread_id function_id depth start_ns duration_ns self_ns bound function module thread tid
    process pid""".split()
TEXTS = ("bound", "function", "module", "thread", "process")
SQL = """SELECT call_id, parent_id, thread_id, function_id, depth, c.start_ns, duration_ns, self_ns, bound, f.name,
    module, t.name, tid, p.name, pid FROM calls c JOIN functions f USING (function_id) JOIN threads t USING (thread_id)
    JOIN processes p USING (process_id)"""
NUMBERS = [name for name in COLUMNS if name not in TEXTS]


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(args), done.stderr.decode("utf8", "replace")))
    return done.stdout.decode("utf8")


def duckdb(*statements):
    """The rows of each."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [[json.loads(line) for line in answer.splitlines()]
            for answer in run("node", here + "/ask.js", *statements).split("--\n")]


def nanoscope(sql):
    return json.loads(run(os.environ["NANOSCOPE"], "query", "--json", sql, TRACE))["rows"]


def quoted(text):
    """As a text of SQL."""
    return "'%s'" % text.replace("'", "''")


def number(value):
    return None if value is None else int(value)


wrong = []
file = quoted(PARQUET)
sums = "SELECT count(*), " + ", ".join("coalesce(sum(%s), 0)" % name for name in NUMBERS) + " FROM "
names, rows, sum_of_all, told, real = duckdb(
    "SELECT column_name FROM (DESCRIBE SELECT * FROM %s)" % file,
    "SELECT * FROM " + file,
    sums + file,
    "SELECT %s FROM parquet_metadata(%s)" % (", ".join(
        "{0}(CAST(stats_{0}_value AS BIGINT)) FILTER (path_in_schema = {1})".format(which, quoted(name))
        for name in NUMBERS for which in ("min", "max")), file),
    "SELECT %s FROM %s" % (", ".join("{0}({1})".format(which, name) for name in NUMBERS for which in ("min", "max")), file))
if [row[0] for row in names] != COLUMNS:
    wrong.append("columns: %s" % names)
ours = Counter(tuple(value if name in TEXTS else number(value) for name, value in zip(COLUMNS, row)) for row in rows)
theirs = Counter(tuple(row) for row in nanoscope(SQL))
if ours != theirs:
    wrong.append("only in the file: %s; only in the trace: %s" % (list((ours - theirs).items())[:3], list((theirs - ours).items())[:3]))
if [number(v) for v in sum_of_all[0]] != nanoscope(sums + "(%s)" % SQL)[0]:
    wrong.append("sums: %s" % sum_of_all)
# What the footer says of the range of each column.
if [number(v) for v in told[0]] != [number(v) for v in real[0]]:
    wrong.append("ranges: %s, not %s" % (told, real))
print("\n".join(wrong))
sys.exit(bool(wrong))
