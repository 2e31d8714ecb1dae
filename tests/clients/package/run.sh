#!/usr/bin/env bash
# Creates packages, archives, service and image of Assay, and uses them in bare roots.
#
#   tests/clients/package/run.sh SCRATCH [Class.test ...]
#
# With ASSAY_TEST_IMAGE=whole the image's first stage, which installs a compiler and builds, runs in a bare root too,
# which takes minutes more.
set -euo pipefail
scratch=$(realpath -m "${1:?a folder to work in}")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
mkdir -p "$scratch"

if ! cmp -s "$here/requirements.txt" "$scratch/complete"; then
  python3 -m venv --clear "$scratch/venv"
  "$scratch/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$scratch/complete"
fi
# As in a release: without sanitizers, and with a separate prefix.
launcher=$(command -v ccache || true)
cmake -S . -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=/usr \
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher" >"$scratch/build.log"
cmake --build "$scratch/build" >>"$scratch/build.log" || { tail -n 40 "$scratch/build.log" >&2; exit 1; }
# A bare system of this release. Only root may change its root folder.
if [ "$(id -u)" = 0 ] && [ ! -f "$scratch/root.tar" ]; then
  . /etc/os-release
  for file in /etc/apt/sources.list "/etc/apt/sources.list.d/$ID.sources"; do
    if [ -s "$file" ]; then cat "$file"; echo; fi
  done >"$scratch/sources"
  mmdebstrap --quiet --variant=apt "$VERSION_CODENAME" "$scratch/root.part.tar" - <"$scratch/sources"
  mv "$scratch/root.part.tar" "$scratch/root.tar"
fi
exec "$scratch/venv/bin/python" "$here/test_package.py" "$scratch" "${@:2}"
