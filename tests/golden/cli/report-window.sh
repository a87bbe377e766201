#!/bin/sh
echo "--- a window: totals are clipped"
nanoscope report --from 1.2us --to 4.5us --thread 100 sample.nst
echo "--- without parse: its time is its callers'"
nanoscope report -N parse --thread '#0' --format csv sample.nst
echo "--- only what fits"
nanoscope report -F '/^p/' -F read_file --format csv sample.nst
echo "--- beside the trace"
nanoscope report --from 1h sample.nst
nanoscope replay --from 1h --format csv sample.nst
