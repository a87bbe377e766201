#!/bin/sh
nanoscope calls sample.nst read_file
echo "--- the other order, sorted by start"
nanoscope calls --sort start --top 3 parse sample.nst
echo "--- csv"
nanoscope calls --sort self --format csv sample.nst '*'
echo "--- json"
nanoscope calls --top 1 --json sample.nst print
echo "--- a file that is called as the function is"
touch print
nanoscope calls --format csv print sample.nst
rm print
