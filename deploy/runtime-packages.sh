#!/usr/bin/env bash
# The packages that hold the libraries a program is linked against, and those that it opens: deploy/runtime-packages.sh
# PROGRAM
set -euo pipefail
linked() { ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}'; }
{
  linked "$1"
  # Those that it opens late (lib/base/late.h) stand in it by name.
  grep -aoE 'lib[a-zA-Z0-9_+-]+\.so\.[0-9.]+' "$1" | sort -u | while read -r name; do
    ldconfig -p | awk -v name="$name" '$1 == name && !found++ {print $NF}'
  done | while read -r library; do
    echo "$library"
    linked "$library"
  done
} | sort -u | while read -r library; do
  # dpkg knows a merged /usr by either name of a file.
  path=$(readlink -f "$library")
  dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}"
done | cut -d: -f1 | sort -u
