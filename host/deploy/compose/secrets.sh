#!/bin/sh
# Makes passwords for compose.yaml, each in a file of its own, below the folder DIR.
# Files that are there stay as they are. Containers read them by several accounts,
# so it is the folder that is closed to others.
# usage: secrets.sh [DIR]
set -eu
dir=${1:-$(dirname "$0")/secrets}
mkdir -p "$dir"
chmod 700 "$dir"
cd "$dir"
umask 022
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
keep() { [ -s "$1" ] || cat >"$1"; }
for name in postgres_password redis_password s3_secret_key metrics_token; do random | keep $name; done
printf 'postgres://deepoj:%s@postgres:5432/deepoj?sslmode=disable' "$(cat postgres_password)" | keep database_url
printf 'redis://:%s@redis:6379/0' "$(cat redis_password)" | keep redis_url
