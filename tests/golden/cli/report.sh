#!/bin/sh
nanoscope report sample.nst
echo "--- sorted, the first two, from one thread"
nanoscope report --sort max --top 2 --thread main sample.nst
echo "--- csv"
nanoscope report --sort name --format csv sample.nst
echo "--- json"
nanoscope report --top 1 --json sample.nst
