nanoscope report processes.nst
echo "--- apart"
nanoscope report --per-process --sort name --format csv processes.nst
echo "--- one of them"
nanoscope report --process child --format csv processes.nst
