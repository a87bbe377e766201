# helpers.sh - start and end `nanoscope open`, and ask it; sourced by tests of the viewer's server.
# shellcheck shell=sh disable=SC2034 # variables are for the tests
: "${NANOSCOPE:?}" "${t_tmp:?}"

# serve ARGUMENTS...: start it; sets server (its process), address, base (without the token), token, host
# (with the port), port and cookie. Fails if it does not come up.
serve() {
    # It ends by itself if the test does not come to it.
    # shellcheck disable=SC2086 # several words
    ${NANOSCOPE_AS:-} env -u DISPLAY -u WAYLAND_DISPLAY "$NANOSCOPE" open --idle 60 "$@" </dev/null >"$t_tmp/served" 2>"$t_tmp/said" &
    server=$!
    address='' tries=0
    while [ -z "$address" ] && [ $tries -lt 100 ] && kill -0 $server 2>/dev/null; do
        sleep 0.1
        tries=$((tries + 1))
        address=$(grep '^http://127\.[0-9.]*:[0-9]*/#token=[0-9a-f]*$' "$t_tmp/served")
    done
    [ -n "$address" ] || return 1
    base=${address%%/#*} token=${address##*=}
    host=${base#http://} port=${base##*:}
    curl -s -c "$t_tmp/jar" --data "$token" "$base/login"
    cookie=$(awk '/nanoscope-/ { print $6 "=" $7 }' "$t_tmp/jar")
}

# status ARGUMENTS... of curl: prints the status of the answer.
status() {
    curl -s -o /dev/null -w '%{http_code}' "$@"
}

# get PATH [ARGUMENTS of curl]: as the page does.
get() {
    path=$1
    shift
    curl -s -H "Cookie: $cookie" "$@" "$base$path"
}

# end_serving [SIGNAL]: end it; sets ended, its exit status.
end_serving() {
    kill "-${1:-INT}" $server
    wait $server
    ended=$?
}
