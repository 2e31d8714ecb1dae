#!/usr/bin/env bash
# A wheel with libassay and the models inside, for every Python from 3.9 on, on this machine's platform.
#
#   clients/python/assay/build_wheel.sh BUILD OUT      BUILD: a build folder with the target assay_shared; prints the wheel's path
#
# The libraries that libassay needs beside the C library are bundled (auditwheel), under names of their own, so that
# they meet no other copy in the process. Those that it opens late (lib/base/late.h) it asks for by name, so they keep
# theirs and lie beside it; training's are left out. What it may run on is in the tag: manylinux with the glibc of the
# machine that it was built on.
set -euo pipefail
[ $# = 2 ] || { echo "usage: $0 BUILD OUT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$here/pyproject.toml" "$here/setup.py" "$here/src" "$work"
cmake --install "$build" --component library --prefix "$work/prefix" >/dev/null
mkdir "$work/src/assay/lib"
cp -L "$(find "$work/prefix" -name libassay.so.1)" "$work/src/assay/lib"
cp -r "$work/prefix/share" "$work/src/assay" # libassay finds its models there, by ../share
strip --strip-unneeded "$work/src/assay/lib/libassay.so.1"

python3 -m venv "$work/venv"
export PATH="$work/venv/bin:$PATH"
pip install -q --disable-pip-version-check -r "$here/build-requirements.txt"
# Libraries that are opened stand in it by name, as those do that it is linked against.
library="$work/src/assay/lib/libassay.so.1"
tr '\0' '\n' <"$library" | grep -axE 'lib[a-z]+\.so\.[0-9.]+' | sort -u |
  grep -vxF "$(patchelf --print-needed "$library")" |
  grep -v -e '^libassay' -e '^liblinear' -e '^libxgboost' >"$work/late"
while read -r name; do
  path=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk -v name="$name" '$1 == name && !found++ {print $NF}')
  cp -L "${path:?$name, which libassay opens, is not here}" "$work/src/assay/lib/$name"
done <"$work/late"
patchelf --set-rpath '$ORIGIN' "$library"
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$work/plain" "$work"
auditwheel repair -w "$work/repaired" "$work"/plain/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cp "$work"/repaired/*.whl "$out"
echo "$out/$(basename "$work"/repaired/*.whl)"
