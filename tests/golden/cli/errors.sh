#!/bin/sh
fails() {
    nanoscope "$@"
    echo "status $?"
}
fails report
fails tree sample.nst hostile.nst
fails report none.nst
fails report --sort speed sample.nst
fails report --from 2s --to 1s sample.nst
fails report --from soon sample.nst
fails report --top -1 sample.nst
fails report --thread nobody sample.nst
fails report --process 77 sample.nst
fails report -F '/(/' sample.nst
fails report -F 'nothing' sample.nst
fails tree --min-share 101% sample.nst
fails tree --root nothing sample.nst
fails calls sample.nst
fails calls sample.nst nothing
fails calls nothing sample.nst
fails replay --limit x sample.nst
echo "--- a reader that goes away"
nanoscope replay sample.nst | head -n 1
