#!/bin/sh
nanoscope tree --min-share 0 sample.nst
echo "--- without the characters for it"
LC_ALL=C nanoscope tree --min-share 5% sample.nst
echo "--- per thread, two levels"
nanoscope tree --per-thread --depth 2 sample.nst
echo "--- one level: estimates below it count, too"
nanoscope tree --depth 1 sample.nst
echo "--- from a root"
nanoscope tree --root 'parse' --min-share 0 sample.nst
echo "--- recursion on one line"
nanoscope tree --root parse --fold-recursion --min-share 0 --format csv sample.nst
echo "--- json"
nanoscope tree --thread worker --json sample.nst
