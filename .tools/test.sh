#!/bin/bash
# Runs every test with the race detector and says how long it took. Nothing may
# be skipped: DEEPOJ_TEST=require turns a missing service into a failure. What
# measures CPU time to the millisecond has the machine to itself, and virtual
# machines keep every core busy, so these come before and after all others.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEEPOJ_TEST=${DEEPOJ_TEST:-require} CGO_ENABLED=1
# A program with the race detector waits a second before it ends, unless told not to;
# many tests start themselves again. What vet finds, make lint finds too, and who
# debugs a test builds it with symbols.
export GORACE=${GORACE:-atexit_sleep_ms=0}
quick=(-vet=off '-ldflags=-s -w')
start=$SECONDS
status=0
go test "${quick[@]}" -race -timeout 10m -run '^TestCPUTime' "$@" ./sandbox || status=$?
# What compares costs by CPU time needs no race detector, which makes it five times as long.
costs='^TestNo(Statement|Package)TakesMuchLonger'
go test "${quick[@]}" -timeout 10m -run "$costs" "$@" ./host/problem || status=$?
# Nor does what does one thing after another many thousand times, and Landlock holds only
# programs without C code.
many='^Test(NoFormulaKeepsAStyle|AStatementThatBecomesTooMuchIsRefused|WhoEndsFirstDecides|EverySampleProvesItselfFromItsFolder|NobodyButStaffSeesAnythingOfARejudgeSetBeforeItIsApplied|ANetworkOfIPv6IsOnePlace|WhoGuessesKeepsNobodyOut|LandlockAloneLeadsToNoTCP)$'
CGO_ENABLED=0 go test "${quick[@]}" -timeout 20m -run "$many" "$@" ./web ./host/judging ./host/verify ./host/problem/statement ./host/plugin || status=$?
# What takes longest begins first, so that no core is left alone with it at the end.
go test "${quick[@]}" -race -timeout 40m -p 3 -skip "^TestCPUTime|^TestPureCgroupV2InAVirtualMachine\$|$costs|$many" "$@" \
	./host/e2e ./web ./host/judging ./sandbox ./... || status=$?
(cd host/deploy/strict && CGO_ENABLED=0 go test -vet=off -timeout 5m ./...) || status=$?
.tools/test-vm.sh || status=$?
echo "test: $((SECONDS - start)) s of a budget of 1500 s"
exit $status
