#!/usr/bin/env bash
# Draws a flame graph of the CPU time of a command: bench/flame.sh OUT.svg COMMAND... (linux-perf). Also writes
# OUT.folded, with one stack a line, for speedscope and others. Uses inferno (`cargo install inferno`) or
# Brendan Gregg's flamegraph.pl in FLAMEGRAPH_DIR, whichever exists.
set -euo pipefail
if (($# < 2)); then
  echo "usage: bench/flame.sh OUT.svg COMMAND..." >&2
  exit 2
fi
svg=$1
folded=${svg%.svg}.folded
shift
data=$(mktemp)
trap 'rm -f "$data"' EXIT
perf record --quiet --freq "${FREQUENCY:-997}" --call-graph fp --output "$data" -- "$@" > /dev/null
# A sample is its command's name, its frames with the innermost first, and an empty line.
perf script --input "$data" --fields comm,ip,sym 2> /dev/null | awk '
  /^[^ \t]/ {command = $1; stack = ""; next}
  NF {$1 = ""; sub(/^ /, ""); gsub(/;/, ":"); stack = ";" $0 stack; next}
  command != "" {seen[command stack]++; command = ""}
  END {if (command != "") seen[command stack]++; for (s in seen) print s, seen[s]}' | sort > "$folded"
if [[ -n ${FLAMEGRAPH_DIR:-} ]]; then
  "$FLAMEGRAPH_DIR/flamegraph.pl" "$folded" > "$svg"
elif command -v inferno-flamegraph > /dev/null; then
  inferno-flamegraph "$folded" > "$svg"
else
  echo "bench/flame.sh: nothing here draws (inferno-flamegraph, or flamegraph.pl in FLAMEGRAPH_DIR); the stacks are in $folded" >&2
fi
