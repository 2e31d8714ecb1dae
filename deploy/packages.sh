# The packages that Assay builds, runs and is tested with; sourced by demo.sh and test.sh.
# "a|b" takes the first that this release of Debian or Ubuntu has.

build_packages="gcc cmake ninja-build pkg-config lemon re2c sqlite3 libsqlite3-dev libpq-dev libmariadb-dev libglib2.0-dev
  libmsgpack-dev|libmsgpack-c-dev libjansson-dev libyaml-dev libsmartcols-dev libxxhash-dev libstemmer-dev
  liblinear-dev libcurl4-openssl-dev librdkafka-dev libhiredis-dev libmicrohttpd-dev libgnutls28-dev ca-certificates"
# Without these a part is left out and says so: training boosted trees.
optional_packages="libxgboost-dev"
test_packages="g++ clang clang-tidy clang-format libclang-rt-14-dev|libclang-rt-18-dev libcriterion-dev python3 python3-yaml"
optional_test_packages="python3-torch libopenblas0-pthread libpg-query-dev python3-jsonschema openssl pgbouncer zsh fish"
# The servers of tests/live. Kafka itself is no package: it comes from Maven Central; llama.cpp's server comes from
# PyPI.
live_test_packages="maven openjdk-17-jre-headless|default-jre-headless kcat openssl redis-server postgresql mariadb-server-core
  python3-confluent-kafka python3-msgpack python3-pip"
# What tests/clients needs beside PyPI and npm. A Node.js of another source has an npm of its own, which Debian's would
# push out.
client_test_packages="python3-venv python3-pip sqlite3 openssl git dpkg-dev systemd libseccomp2 mmdebstrap lintian chromium"
command -v npm >/dev/null || client_test_packages="$client_test_packages nodejs npm"
optional_client_test_packages="libxml2-utils man-db"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }
available() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)')" ]; }

# The name to install for "a|b": the first installed or available one; empty if none.
pick() {
  for name in ${1//|/ }; do
    if installed "$name" || available "$name"; then echo "$name"; return; fi
  done
}

all_installed() {
  for entry in $1; do
    found=
    for name in ${entry//|/ }; do installed "$name" && found=1; done
    [ -n "$found" ] || return 1
  done
}

# find_promtool INTO: the path of promtool, which the cases of the alerts need; beside it lies prometheus, which the
# dashboards do. Debian has both in `prometheus`, which would bring a server that listens everywhere, and its pages; so
# they are taken out of the package, and nothing is installed.
find_promtool() {
  command -v promtool && return
  if [ ! -x "$1/usr/bin/promtool" ] || [ ! -x "$1/usr/bin/prometheus" ]; then
    mkdir -p "$1"
    (cd "$1" && apt-get download -qq prometheus &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar x ./usr/bin/promtool ./usr/bin/prometheus) >/dev/null 2>&1
    rm -f "$1"/prometheus_*.deb
  fi
  if [ -x "$1/usr/bin/promtool" ]; then echo "$1/usr/bin/promtool"; fi
}

# install_packages REQUIRED OPTIONAL: nothing to do costs no network.
install_packages() {
  set -- "$1" "${2:-}"
  all_installed "$1 $2" && return
  echo "== installing packages" >&2
  as_root apt-get update -qq
  list=
  for entry in $1; do
    name=$(pick "$entry")
    [ -n "$name" ] || { echo "no package for '$entry' in this release" >&2; return 1; }
    list="$list $name"
  done
  for entry in $2; do
    name=$(pick "$entry")
    if [ -n "$name" ]; then list="$list $name"; else echo "optional package $entry is not in this release" >&2; fi
  done
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $list >/dev/null
}
