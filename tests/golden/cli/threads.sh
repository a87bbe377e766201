#!/bin/sh
nanoscope report --threads notes.nst
echo "--- a window"
nanoscope report --threads --from 4500ns --to 6200ns notes.nst
echo "--- csv, one thread"
nanoscope report --threads --thread idle --format csv notes.nst
echo "--- json"
nanoscope report --threads --thread main --json notes.nst
echo "--- nothing to tell"
nanoscope report --threads sample.nst
echo "status $?"
nanoscope report --threads --per-process notes.nst
echo "status $?"
nanoscope info notes.nst | grep -E 'samples|state|marks|counter'
