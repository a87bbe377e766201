#!/bin/sh
# On a terminal: bold headings unless told otherwise, and names cannot command it, not even as CSV.
on_terminal() {
    script -qec "$1" /dev/null </dev/null | tr -d '\r' | cat -v
}
export TERM=xterm
on_terminal "nanoscope report --top 1 hostile.nst"
on_terminal "NO_COLOR=1 nanoscope tree --depth 1 hostile.nst"
on_terminal "TERM=dumb nanoscope replay --limit 1 hostile.nst"
on_terminal "nanoscope report --format csv hostile.nst"
