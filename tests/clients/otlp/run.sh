#!/usr/bin/env bash
# Checks Assay's OTLP export with the protocol's own tools: strictly with opentelemetry-proto (from PyPI), and with
# OpenTelemetry's collector. The collector is built here from its Go modules and forwards the decoded spans. The fleet
# is real: tests/live/fleet/test_tracing.py.
#
#   tests/clients/otlp/run.sh SCRATCH        with ASSAY_TEST_PROGRAM; starts Kafka and Redis without ASSAY_TEST_KAFKA
#
# Without Go 1.25 or later the collector's part is skipped with a message.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
mkdir -p "$1"
scratch=$(cd "$1" && pwd)
program=${ASSAY_TEST_PROGRAM:?the path of assay}
tested=0 passing=0 started=
cleanup() { [ -z "$started" ] || "$root/tests/live/servers.sh" stop "$scratch/servers"; }
trap cleanup EXIT

# check NAME COMMAND...: one test; its output is shown only when it fails.
check() {
  local name=$1 log=$scratch/${1// /-}.log
  shift
  tested=$((tested + 1))
  if "$@" >"$log" 2>&1; then
    passing=$((passing + 1))
  else
    echo "[FAIL] $name"
    tail -n 12 "$log"
  fi
}

make_venv() {
  [ -x "$scratch/venv/bin/python" ] || python3 -m venv --system-site-packages "$scratch/venv" || return
  "$scratch/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary=:all: \
    -r "$here/requirements.txt" >&2
}

has_go() {
  local minor
  minor=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
  [ "${minor:-0}" -ge 25 ]
}

make_collector() {
  (cd "$here/collector" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -trimpath -o "$scratch/collector" .)
}

fleet() { # VARIABLE=VALUE...
  env ASSAY_MODELS="$root/models" "$@" "$scratch/venv/bin/python" "$root/tests/live/fleet/test_tracing.py" \
    --assay "$program"
}

if [ -z "${ASSAY_TEST_KAFKA:-}" ] || [ -z "${ASSAY_TEST_REDIS:-}" ]; then
  started=1
  check "servers" "$root/tests/live/servers.sh" start "$scratch/servers" kafka redis
  # shellcheck disable=SC1091
  . "$scratch/servers/env"
fi
check "opentelemetry-proto is there" make_venv
check "a trace as the protocol defines it" fleet ASSAY_TEST_OTLP_COLLECTOR= ASSAY_TEST_OTLP_STRICT=1
if has_go; then
  check "the collector is built" make_collector
  check "a trace through the collector" fleet ASSAY_TEST_OTLP_COLLECTOR="$scratch/collector" ASSAY_TEST_OTLP_STRICT=1
else
  echo "skipped: the collector, which takes Go 1.25 or later"
fi
echo "Synthesis: Tested: $tested | Passing: $passing"
[ "$tested" = "$passing" ]
