#!/usr/bin/env bash
# All tests: installs what is missing, builds with sanitizers, runs everything, ends with "N passed, N failed".
#
#   deploy/test.sh [--no-install] [--lint] [--clients]
#
# --lint adds formatting and clang-tidy of all sources. --clients adds what is outside of the program, which takes as
# long again: packages from PyPI and npm that ask it (tests/clients), a browser, collectors, installed packages.
set -uo pipefail
cd "$(dirname "$0")/.."
. deploy/packages.sh

install=1 lint= clients=
for arg; do
  case $arg in
    --no-install) install= ;;
    --lint) lint=1 ;;
    --clients) clients=1 ;;
    *) echo "usage: deploy/test.sh [--no-install] [--lint] [--clients]" >&2; exit 2 ;;
  esac
done
[ -z "$install" ] ||
  install_packages "$build_packages $test_packages $live_test_packages ${clients:+$client_test_packages}" \
  "$optional_packages $optional_test_packages ${clients:+$optional_client_test_packages}" || exit 2

[ -z "$install" ] || export ASSAY_TEST_PROMTOOL=${ASSAY_TEST_PROMTOOL:-$(find_promtool "$PWD/build/promtool")}

# A name that is the program's own section now.
[ -z "${ASSAY_KAFKA_LIBS:-}" ] || { export ASSAY_TEST_KAFKA_LIBS=$ASSAY_KAFKA_LIBS; unset ASSAY_KAFKA_LIBS; }

passed=0 failed=0 servers= guards= ahead=
cleanup() {
  [ -z "$ahead" ] || kill -- "-$ahead"
  [ -z "$guards" ] || { kill "$guards" && wait "$guards"; }
  [ -z "$servers" ] || { tests/live/servers.sh stop "$servers"; rm -rf "$servers"; }
}
trap cleanup EXIT
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}

# step NAME COMMAND...: one check that passes or fails as a whole; its output is shown only when it fails.
step() {
  local name=$1 log=build/test-logs/${1// /-}.log
  shift
  mkdir -p build/test-logs
  echo "== $name" >&2
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "-- $name FAILED; the end of $log:" >&2
    tail -n 60 "$log" >&2
  fi
}

# suite PRESET TARGETS [ctest arguments]: builds a preset and counts each test inside its binaries. Its log is called
# after the preset, or $suite_log.
suite() {
  local preset=$1 targets=$2 log=build/test-logs/${suite_log:-$1}.log
  shift 2
  mkdir -p build/test-logs
  echo "== building $preset" >&2
  # shellcheck disable=SC2086
  if ! { cmake --preset "$preset" -DASSAY_WERROR=ON && cmake --build --preset "$preset" --target $targets; } \
    >"$log.build" 2>&1; then
    failed=$((failed + 1))
    echo "-- build of $preset FAILED:" >&2
    grep -E 'error|warning|FAILED' "$log.build" | head -n 40 >&2
    return
  fi
  echo "== testing $preset" >&2
  ctest --test-dir "build/$preset" --verbose "$@" >"$log" 2>&1
  local counts
  counts=$(awk -f deploy/count-tests.awk "$log")
  passed=$((passed + ${counts% *}))
  if [ "${counts#* }" != 0 ]; then
    failed=$((failed + ${counts#* }))
    grep -E '\[FAIL\]|\[CRASH\]|\*\*\*|Assertion|ERROR: |leak of|#[0-9] |SUMMARY: |\[----\]' "$log" | head -n 80 >&2
  fi
}

# live: the suite again, for the tests that need real servers; they run in a scratch directory and stop with us.
live() {
  servers=$(mktemp -d "${TMPDIR:-/tmp}/assay-live.XXXXXX") || return
  step "servers" tests/live/servers.sh start "$servers" kafka redis postgres pgvector mariadb llama
  grep -q ASSAY_TEST_KAFKA= "$servers/env" || return # counted as failed
  # shellcheck disable=SC1091
  . "$servers/env"
  suite_log=live suite asan all -L live
  tests/live/servers.sh stop "$servers"
}

# count NAME: what the log of a command says that counts its own tests, one a line, and ends with their sum as Criterion
# does.
count() {
  local name=$1 log=build/test-logs/${1// /-}.log sum
  sum=$(sed -n 's/^Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1)
  if [ -z "$sum" ]; then
    failed=$((failed + 1))
    echo "-- $name FAILED; the end of $log:" >&2
    tail -n 60 "$log" >&2
    return
  fi
  passed=$((passed + ${sum#* })) failed=$((failed + ${sum% *} - ${sum#* }))
  [ "${sum% *}" = "${sum#* }" ] || grep -A 12 '^\[FAIL\]' "$log" >&2
}

# clients: tests/clients, two suites at a time, since each waits for downloads and processes for most of its time. They
# ask a program without sanitizers: a library that is loaded into somebody else's process cannot bring them.
clients() {
  local scratch run
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/assay-clients.XXXXXX") || return
  step "servers of the clients" tests/live/servers.sh start "$scratch/servers" kafka redis
  servers=$scratch/servers
  # shellcheck disable=SC1091
  . "$servers/env" # in place of those of the live tests, which are gone
  step "program for clients" cmake --build build/demo # the rest of what the demo has built
  export ASSAY_TEST_PROGRAM=$PWD/build/demo/cli/assay ASSAY_TEST_BUILD=$PWD/build/demo
  ls tests/clients/*/run.sh | xargs -P 2 -I RUN sh -c \
    'name=$(basename "$(dirname RUN)"); echo "== clients: $name" >&2; timeout 1500 RUN "$0/$name" >"build/test-logs/clients-$name.log" 2>&1' "$scratch" || true
  for run in tests/clients/*/run.sh; do count "clients-$(basename "$(dirname "$run")")"; done
  tests/live/servers.sh stop "$servers"
  rm -rf "$scratch"
}

# What is built later, out of what time the live tests leave, which wait for servers for most of theirs.
build_ahead() {
  cmake --preset tsan -DASSAY_WERROR=ON && cmake --build --preset tsan --target race_tests
  deploy/demo.sh --no-install --build-only
}

suite asan all -LE live -j 2
setsid nice -n 19 bash -c "$(declare -f build_ahead); build_ahead" >build/test-logs/ahead.log 2>&1 &
ahead=$!
live
wait "$ahead" # what went wrong in it is seen when it is built again
ahead=
echo "== fleet under fault" >&2
deploy/soak.sh --no-install --short --asan >build/test-logs/fleet-under-fault.log 2>&1
count "fleet under fault"
echo "== builds without guards, concurrent with the next step" >&2
deploy/soak.sh --no-install --mutations --asan >build/test-logs/guards-left-out.log 2>&1 &
guards=$!
suite tsan race_tests -L race
[ -z "$lint" ] || step "formatting" deploy/lint.sh format
[ -z "$lint" ] || step "clang-tidy" deploy/lint.sh tidy
step "demo" deploy/demo.sh --no-install
wait "$guards"
guards=
count "guards left out"
[ -z "$clients" ] || clients

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
