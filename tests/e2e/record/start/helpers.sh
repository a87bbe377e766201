# helpers.sh - orders to tests/e2e/record/start/work.c, and recordings of it; sourced behind tap.sh.
# shellcheck shell=sh disable=SC2034,SC2154
source=tests/e2e/record/start/work.c trace=$t_tmp/t.nst
mkfifo "$t_tmp/in" "$t_tmp/answers"

# field NAME: a line of info, without thousands marks
field() { "$NANOSCOPE" info "$trace" | sed -n "s/^$1  *//p" | tr -d , | sed 's/ .*//'; }

# accounted: recorded + lost + left out, events of the program
accounted() {
    "$NANOSCOPE" info --json "$trace" | python3 -c '
import json, sys
info = json.load(sys.stdin)
meta = info["meta"]
print(int(meta["program_events"]) + info["lost"] + int(meta.get("left_out_events", 0)))'
}

# work THREADS: the program that obeys orders, in $worker; if it spins, it ends
work() {
    (ulimit -t 60 && exec "$program" orders "$1" <"$t_tmp/in" >"$t_tmp/answers") &
    worker=$!
    exec 3>"$t_tmp/in" 4<"$t_tmp/answers"
    order hello
}

# order WORDS: has it done; $events is what it has emitted until now, $answer what else it says
order() {
    echo "$*" >&3
    read -r _ events answer <&4
}

dismiss() {
    exec 3>&- 4<&-
    wait "$worker"
}

# detached ARGUMENT...: start in the background
detached() {
    rm -f "$trace"
    "$NANOSCOPE" start -o "$trace" --detach "$@" 2>"$t_tmp/err"
}

stop() { "$NANOSCOPE" stop -p "$worker" 2>"$t_tmp/stop"; }

# exactly NAME: what the program did between start and stop is in the trace, call by call
exactly() {
    is "$1: recorded + lost = emitted" "$(accounted)" "$((events - before))"
    is "$1: lost" "$(field lost)" 0
    ok "$1: the trace is sound" "$NANOSCOPE" verify "$trace"
}

