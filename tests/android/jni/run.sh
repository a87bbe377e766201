# run.sh - the library of an app on Linux: a harness that stands for the VM, and in place of Android's C library
# and log an empty one and our own. Sourced after tap.sh.
# shellcheck shell=sh disable=SC2154,SC2120 # names of tap.sh and of who sources this
jni=$PWD/tests/android/jni

# jni_build COMPILER: harness and libraries in $t_tmp/jni
jni_build() {
    mkdir -p "$t_tmp/jni"
    "$1" -D_GNU_SOURCE -std=gnu17 -O2 -Wall -Wextra -Werror -rdynamic "$jni/harness.c" -o "$t_tmp/jni/harness" -ldl -lpthread &&
        "$1" -shared -nostdlib -x c /dev/null -o "$t_tmp/jni/libc.so" &&
        "$1" -shared -fPIC -w "$jni/liblog.c" -o "$t_tmp/jni/liblog.so"
}

# jni_run ARGUMENTS: the harness with $jni_library, under $jni_emulator if there is one; what the log says is in $t_tmp/log
jni_run() {
    # shellcheck disable=SC2086 # words
    if [ -n "${jni_emulator-}" ]; then
        $jni_emulator -E LD_LIBRARY_PATH="$t_tmp/jni" "$t_tmp/jni/harness" "$jni_library" "$@" 2>"$t_tmp/log"
    else
        LD_LIBRARY_PATH=$t_tmp/jni "$t_tmp/jni/harness" "$jni_library" "$@" 2>"$t_tmp/log"
    fi
}

# The table that fits the harness: methods 1 to 500. Its fingerprint is read, not computed.
jni_methods() {
    echo "nanoscope methods 1"
    echo "build ${1:-0123456789abcdef0123456789abcdef}"
    seq 1 500 | sed 's/.*/&\tvoid a.C.m&()\tC.java\t&/'
}

# jni_threads RECORDING FOLDER: whether every thread's text is what the harness wrote, FOLDER/TID.want
jni_threads() {
    "$NANOSCOPE" export -o "$t_tmp/threads.txt" "$1" || return 1
    for want in "$2"/*.want; do
        tid=$(basename "$want" .want)
        got=$t_tmp/threads.txt.$tid
        [ -e "$got" ] || got=$t_tmp/threads.txt
        cut -d: -f2- "$got" | cmp - "$want" || return 1
    done
}

# What every processor must do.
jni_basics() {
    export HARNESS_BUILD=0123456789abcdef0123456789abcdef
    rm -rf "$t_tmp/run"
    mkdir "$t_tmp/run"
    jni_methods >"$t_tmp/run/methods.txt"
    is "$1: threads, each with its own calls" "$(NANOSCOPE_APP_OUT=$t_tmp/run/r.nsapp jni_run tree 8 8 3000 "$t_tmp/run")" "emitted 48000"
    is "$1: ... nothing is lost" "$(python3 "$jni/count.py" "$t_tmp/run/r.nsapp" | xargs)" "events 48000 lost 0 emitted 48000 threads 8"
    ok "$1: ... and every thread has its calls, in order" jni_threads "$t_tmp/run/r.nsapp" "$t_tmp/run"
    is "$1: memory is short: what is lost is counted" \
        "$(NANOSCOPE_APP_MEMORY=256K NANOSCOPE_APP_OUT=$t_tmp/run/short.nsapp jni_run tree 8 8 8000 "$t_tmp/run")" \
        "$(python3 "$jni/count.py" "$t_tmp/run/short.nsapp" | grep emitted)"
    is "$1: ... and told" "$("$NANOSCOPE" info --json "$t_tmp/run/short.nsapp" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["lost"])')" \
        "$(python3 "$jni/count.py" "$t_tmp/run/short.nsapp" | sed -n 's/^lost //p')"
    is "$1: a child of fork() records nothing" "$(NANOSCOPE_APP_OUT=$t_tmp/run/fork.nsapp jni_run fork -; python3 "$jni/count.py" "$t_tmp/run/fork.nsapp" | xargs)" \
        "emitted 4
events 4 lost 0 emitted 4 threads 1"
}
