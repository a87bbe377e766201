#!/bin/sh
nanoscope replay sample.nst
echo "--- one thread, a window"
nanoscope replay --thread main --from 1.6us --to 4.05us sample.nst
echo "--- two levels, the first lines"
nanoscope replay --depth 2 --limit 4 sample.nst
echo "--- csv"
nanoscope replay --thread worker --format csv sample.nst
echo "--- json"
nanoscope replay --limit 3 --json sample.nst
echo "--- marks, of a thread that makes no calls too"
nanoscope replay notes.nst
nanoscope replay --json notes.nst
nanoscope replay --to 7us --format csv notes.nst
