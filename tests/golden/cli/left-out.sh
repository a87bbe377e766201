#!/bin/sh
nanoscope report left.nst
echo "--- a window that holds half of the time"
nanoscope report --from 1000ns --to 4500ns --top 2 left.nst
echo "--- one thread, which is the whole process"
nanoscope report --thread 100 --top 1 left.nst
echo "--- csv: what was recorded"
nanoscope report --format csv left.nst
echo "--- json"
nanoscope report --json --top 2 left.nst
echo "--- beneath other results"
nanoscope tree left.nst
nanoscope calls left.nst leaf
nanoscope info left.nst | grep left-out
nanoscope info --left-out left.nst
nanoscope info --left-out --json left.nst | sed -n '/left_out_list/,$p' | head -20
