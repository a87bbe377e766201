#!/bin/sh
for command in report tree replay; do
    nanoscope $command hostile.nst
done
nanoscope calls hostile.nst '*'
echo "--- csv"
nanoscope report --format csv --sort total hostile.nst
echo "--- json"
nanoscope report --json hostile.nst
nanoscope replay --json hostile.nst | python3 -c '
import json, sys
for line in sys.stdin:
    json.loads(line)
print("all lines are JSON")'
