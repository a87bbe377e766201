# tap.sh - TAP for shell tests; sourced first. NANOSCOPE and BUILD come from the Makefile.
# shellcheck shell=sh
: "${NANOSCOPE:=$PWD/build/bin/nanoscope}" "${BUILD:=$PWD/build}"
export NANOSCOPE BUILD
unset MAKEFLAGS MFLAGS MAKELEVEL
t_count=0 t_failed=0
t_tmp=$(mktemp -d)
trap 'rm -rf "$t_tmp"' EXIT

# t_public: NANOSCOPE becomes a copy that all users may run, who may not see this folder; nor the temporary one else,
# nor, by one's umask, what is made
t_public() {
    umask 022
    chmod 755 "$t_tmp"
    mkdir "$t_tmp/public"
    for t_part in bin lib include; do
        cp -r "$(dirname "$(dirname "$NANOSCOPE")")/$t_part" "$t_tmp/public"
    done
    chmod -R a+rX "$t_tmp/public"
    NANOSCOPE=$t_tmp/public/bin/nanoscope
}

# ok NAME COMMAND...: passes if the command succeeds; its output is shown if not.
ok() {
    t_name=$1
    shift
    t_count=$((t_count + 1))
    if "$@" >"$t_tmp/.out" 2>&1; then
        echo "ok $t_count - $t_name"
    else
        t_failed=$((t_failed + 1))
        echo "not ok $t_count - $t_name"
        tail -n 20 "$t_tmp/.out" | sed 's/^/# /'
    fi
}

# is NAME GOT WANTED: passes if the two texts are equal.
is() {
    t_count=$((t_count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $t_count - $1"
    else
        t_failed=$((t_failed + 1))
        echo "not ok $t_count - $1"
        printf 'got:    %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

# skip NAME WHY: for what cannot be tried on this machine; says so.
skip() {
    t_count=$((t_count + 1))
    echo "ok $t_count - $1 # SKIP $2"
}

t_done() {
    echo "1..$t_count"
    [ "$t_failed" -eq 0 ]
}
