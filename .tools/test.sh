#!/bin/bash
# Runs every test with the race detector and says how long it took. Nothing may
# be skipped: DEEPOJ_TEST=require turns a missing service into a failure.
set -euo pipefail
export DEEPOJ_TEST=${DEEPOJ_TEST:-require} CGO_ENABLED=1
start=$SECONDS
status=0
# Virtual machines keep every core busy: `make test-vm` runs those.
go test -race -timeout 25m -skip '^TestPureCgroupV2InAVirtualMachine$' "$@" ./... || status=$?
echo "test: $((SECONDS - start)) s of a budget of 1800 s"
exit $status
