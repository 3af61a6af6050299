#!/bin/bash
# Runs every fuzz target for the time given, one after the other.
set -euo pipefail
for_each=$1
git grep -lE '^func Fuzz' -- '*_test.go' | while read -r file; do
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -d' ' -f2 | while read -r target; do
		echo "== $target in $(dirname "$file")"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$for_each" "./$(dirname "$file")"
	done
done
