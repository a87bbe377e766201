#!/bin/sh
nanoscope report processes.nst
echo "--- apart"
nanoscope report --per-process --sort name --format csv processes.nst
echo "--- one of them"
nanoscope report --process child --format csv processes.nst
echo "--- the threads"
nanoscope info --threads processes.nst
nanoscope report --thread '#1' --format csv processes.nst
