#!/usr/bin/env bash
# A fleet under fault, on real servers in a scratch directory: one verdict a request, whatever dies on the way.
#
#   deploy/soak.sh MINUTES [--seed N]     all scenarios, again and again with other seeds; a report at the end
#   deploy/soak.sh --short [--seed N]     the short set, which deploy/test.sh runs too
#   deploy/soak.sh --mutations            each guard of the protocol left out once: the checker has to see it
#   deploy/soak.sh --list                 the scenarios
#
#   --only NAME,...      some of them        --directory DIR    scratch directory, which stays
#   --asan               with the sanitizers (build/asan); else the release build
#   --no-install         install no packages
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/packages.sh

preset=release build=build/release install=1 mutations= options=() arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --asan) preset=asan build=build/asan ;;
    --no-install) install= ;;
    --mutations) mutations=1 arguments+=("$1") ;;
    --short | --list) arguments+=("$1") ;;
    --seed | --only | --directory) arguments+=("$1" "${2:?$1 of what?}"); shift ;;
    *[!0-9]* | "") sed -n '4,12s/^# *//p' "$0" >&2; exit 2 ;;
    *) arguments+=(--minutes "$1") ;;
  esac
  shift
done
[ ${#arguments[@]} -gt 0 ] || { sed -n '4,12s/^# *//p' "$0" >&2; exit 2; }
if [ "$preset$mutations" = release1 ]; then # the build with the sanitizers can leave guards out as it is
  build=build/mutations options=(-DASSAY_MUTATIONS=ON -DBUILD_TESTING=OFF)
fi
[ -z "$install" ] || install_packages "$build_packages $test_packages $live_test_packages" "$optional_packages"

python= # one that Debian's modules are installed for
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && $candidate -c 'import confluent_kafka, msgpack' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || { echo "soak: no Python with confluent_kafka and msgpack" >&2; exit 2; }

cmake --preset "$preset" -B "$build" ${options[@]+"${options[@]}"} >/dev/null
cmake --build "$build" --target assay >/dev/null
exec $python tests/live/fleet/run.py --assay "$build/cli/assay" "${arguments[@]}"
