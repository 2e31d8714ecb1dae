#!/usr/bin/env bash
# Fuzz one target, or all in turn, with libFuzzer and sanitizers; new inputs join the saved corpus only if they add
# coverage.
#
#   tests/fuzz/run.sh [TARGET|all] [SECONDS]     default: all targets, 60 seconds each
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:-all} seconds=${2:-60}

cmake --preset fuzz >/dev/null
if [ "$target" = all ]; then
  targets=$(sed -n 's/^assay_fuzzer(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
else
  targets=$target
fi
for name in $targets; do
  cmake --build --preset fuzz --target "fuzz_$name"
  corpus=tests/fuzz/corpus/$name
  work=build/fuzz-work/$name
  mkdir -p "$work" "$corpus"
  limits="-max_total_time=$seconds -rss_limit_mb=2048 -timeout=10 -max_len=70000 -print_final_stats=1"
  # shellcheck disable=SC2086
  "build/fuzz/tests/fuzz/fuzz_$name" $limits -artifact_prefix="$work/crash-" "$work" "$corpus"
  # Keep the corpus small: merge inputs that reach new edges, up to 4 KiB each; the number of passes over an edge does
  # not count.
  "build/fuzz/tests/fuzz/fuzz_$name" -merge=1 -use_counters=0 -max_len=4096 "$corpus" "$work"
done
