#!/bin/bash
# Runs every test with the race detector and says how long it took. Nothing may
# be skipped: DEEPOJ_TEST=require turns a missing service into a failure. What
# measures CPU time to the millisecond has the machine to itself, and virtual
# machines keep every core busy, so these come before and after all others.
#
# Packages run beside each other. A few tests that fail there are run once more by
# themselves, and named: a test that needs a quiet machine should not. A race that
# the detector found, a panic or a time-out is never forgiven.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEEPOJ_TEST=${DEEPOJ_TEST:-require} CGO_ENABLED=1
start=$SECONDS
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
forgiven=3

# again: runs the tests that failed in $log by themselves.
again() {
	local failed
	grep -q 'DATA RACE\|^panic: \|^fatal error: ' "$log" && return 1
	# A package's tests are named before the package.
	failed=$(awk '/^--- FAIL: / {t = t "|" $3} /^FAIL\t/ {print $2, substr(t, 2); t = ""} /^ok/ {t = ""}' "$log")
	[ -n "$failed" ] && awk 'NF < 2 {exit 1}' <<<"$failed" || return 1 # one failed without a test
	[ "$(grep -c '^--- FAIL: ' "$log")" -le $forgiven ] || return 1
	while read -r package tests; do
		echo "test: once more by itself: $package $tests"
		go test -race -count=1 -timeout 10m -run "^($tests)\$" "$package" </dev/null || return 1
	done <<<"$failed"
	echo "test: what failed beside other tests passed by itself"
}

go test -race -timeout 10m -run '^TestCPUTime' "$@" ./sandbox || status=$?
go test -race -timeout 25m -skip '^TestCPUTime|^TestPureCgroupV2InAVirtualMachine$' "$@" ./... 2>&1 | tee "$log" || again || status=1
.tools/test-vm.sh || status=$?
echo "test: $((SECONDS - start)) s of a budget of 1800 s"
exit $status
