#!/usr/bin/env bash
# The packages that hold the libraries a program is linked against: deploy/runtime-packages.sh PROGRAM
set -euo pipefail
ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | while read -r library; do
  # dpkg knows a merged /usr by either name of a file.
  path=$(readlink -f "$library")
  dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}"
done | cut -d: -f1 | sort -u
