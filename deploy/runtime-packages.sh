#!/usr/bin/env bash
# The packages that hold the libraries a program is linked against, and those that it opens: deploy/runtime-packages.sh PROGRAM
set -euo pipefail
{
  ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}'
  # Those that training opens late (lib/learn/late.h) stand in the program by name.
  grep -aoE 'lib(linear|xgboost)\.so\.[0-9]+' "$1" | sort -u | while read -r name; do
    ldconfig -p | awk -v name="$name" '$1 == name {print $NF}'
  done
} | while read -r library; do
  # dpkg knows a merged /usr by either name of a file.
  path=$(readlink -f "$library")
  dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}"
done | cut -d: -f1 | sort -u
