# steps.sh - run commands as named steps, a line each; sourced by ./check (bash).
#
# While a step lasts, a terminal shows its name, its time and the last line of its log; anything else
# gets a line a minute, so that nobody takes a long step for a dead one and no log is flooded.
# shellcheck shell=bash
: "${STEPS_LOGS:=build/check}" "${STEPS_EVERY:=60}" # seconds
steps_passed=0 steps_failed=0
mkdir -p "$STEPS_LOGS"
rm -f "$STEPS_LOGS"/[0-9][0-9].log

# How many tests a log tells of: TAP, or prove's line for each file.
steps_tests() {
    local tests
    tests=$(grep -cE '^ok( |$)|^[^ ]+ [^ ]+ \.+ ok( |$)' "$1")
    [ "$tests" -eq 0 ] || echo ", $tests tests passed"
}

# steps_watch NAME LOG: tell how far it is, until killed, or the script is.
steps_watch() {
    local from=$SECONDS told=0 now
    while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        now=$((SECONDS - from))
        if [ -t 1 ]; then
            printf '\r...     %s (%d s%s): %s\033[K' "$1" "$now" "$(steps_tests "$2")" \
                "$(tail -n 1 "$2" | tr -d '\r\033' | cut -c 1-"$((${COLUMNS:-80} > 60 ? 40 : 20))")"
        elif [ $((now - told)) -ge "$STEPS_EVERY" ]; then
            told=$now
            echo "...     $1 ($now s$(steps_tests "$2"))"
        fi
    done
}

# The lines of a log that say what failed: TAP, prove's report, make, compilers and sanitizers.
steps_why() {
    grep -E -A 4 '^not ok |\(Wstat: |[Ee]rror: |ERROR: |WARNING: |\*\*\* \[' "$1" | head -n 30
}

# step NAME COMMAND...: its line says how it went; if it failed, what its log says of that and its end follow.
step() {
    local name=$1 from=$SECONDS log watcher status
    shift
    log=$STEPS_LOGS/$(printf '%02d' $((steps_passed + steps_failed + 1))).log
    : >"$log"
    steps_watch "$name" "$log" &
    watcher=$!
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    [ ! -t 1 ] || printf '\r\033[K'
    if [ "$status" -eq 0 ]; then
        steps_passed=$((steps_passed + 1))
        echo "ok      $name ($((SECONDS - from)) s)"
        sed -n 's/^passed only when run again: /    &/p' "$log"
    else
        steps_failed=$((steps_failed + 1))
        echo "FAILED  $name ($((SECONDS - from)) s): $*, log in $log"
        { steps_why "$log"; echo "--- the end of the log"; tail -n 30 "$log"; } | cut -c 1-200 | sed 's/^/    /'
    fi
}

# The tests that took longest, by prove's timer.
steps_slowest() {
    local slowest
    slowest=$(sed -nE 's/^\[[0-9:]+\] ([^ ]+) \.+ ok +([0-9]+) ms .*/\2 \1/p' "$STEPS_LOGS"/*.log | sort -rn | head -n 20)
    [ -z "$slowest" ] || { echo "the slowest tests, in seconds:"; awk '{ printf "%7.1f  %s\n", $1 / 1000, $2 }' <<<"$slowest"; }
}

# The verdict, as a line and as a status.
steps_done() {
    steps_slowest
    echo "$steps_passed passed, $steps_failed failed"
    [ "$steps_failed" -eq 0 ]
}
