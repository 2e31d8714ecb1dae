#!/usr/bin/env bash
# What a release consists of, into an empty folder: the sources, the program and library as an archive and as packages
# of Debian, what they are linked against (CycloneDX), and checksums of it all. The same commit on the same machine
# gives the same bytes.
#
#   deploy/release.sh [--build DIR] OUT      DIR: a build of this commit with the prefix /usr, in place of one made here
set -euo pipefail
cd "$(dirname "$0")/.."

build=
if [ "${1:-}" = --build ]; then build=$(realpath "${2:?a folder}"); shift 2; fi
[ $# = 1 ] || { echo "usage: deploy/release.sh [--build DIR] OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
[ -z "$(ls -A "$out")" ] || { echo "$1 is not empty" >&2; exit 2; }
if ! git diff --quiet HEAD; then echo "the working tree has uncommitted changes" >&2; exit 2; fi

version=$(sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
SOURCE_COMMIT=$(git rev-parse --short=9 HEAD)
export SOURCE_DATE_EPOCH SOURCE_COMMIT TZ=UTC LC_ALL=C
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# archive NAME: a folder of $work, with nothing in it that another run would do otherwise.
archive() {
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$1" |
    gzip -9n >"$out/$1.tar.gz"
}

echo "== sources" >&2
git archive --prefix="assay-$version/" HEAD | gzip -9n >"$out/assay-$version.tar.gz"

if [ -z "$build" ]; then
  echo "== building" >&2
  git archive --prefix=source/ HEAD | tar x -C "$work"
  build=$work/build
  # Paths of this machine are not in the program.
  CFLAGS="-ffile-prefix-map=$work=." cmake -S "$work/source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr >"$work/log"
  cmake --build "$build" >>"$work/log" || { tail -n 40 "$work/log" >&2; exit 1; }
fi
[ "$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")" = /usr ] ||
  { echo "$build: its prefix is not /usr" >&2; exit 2; }

echo "== program and library" >&2
name=assay-$version-linux-$(uname -m)
for component in program library; do
  DESTDIR=$work/image cmake --install "$build" --strip --component "$component" >/dev/null
done
mv "$work/image/usr" "$work/$name"
archive "$name"

echo "== packages" >&2
(cd "$build" && cpack -G DEB -B "$work/packages") >"$work/cpack.log" 2>&1 ||
  { tail -n 40 "$work/cpack.log" >&2; exit 1; }
mv "$work"/packages/*.deb "$out"

echo "== bill of materials" >&2
python3 deploy/sbom.py --version "$version" --time "$SOURCE_DATE_EPOCH" "$work/$name/bin/assay" >"$out/$name.cdx.json"

(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
