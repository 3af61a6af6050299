#!/bin/bash
# Runs every test with the race detector and says how long it took. Nothing may
# be skipped: DEEPOJ_TEST=require turns a missing service into a failure. What
# measures CPU time to the millisecond has the machine to itself, so it comes before
# all others. Virtual machines are a suite of their own: test-vm.sh.
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
CGO_ENABLED=0 go test "${quick[@]}" -timeout 10m -run "$costs" "$@" ./host/problem/importing || status=$?
# Nor do packages that do one thing after another, and tests that do it many thousand
# times or look at pages; and Landlock holds only programs without C code.
plain='^deepoj/(checkers|plugins|host/(cmd|deploy|draft|judge|plugin/conformance|problem|reading|survey))(/|$)'
many='^Test(LandlockAloneLeadsToNoTCP|WhoEndsFirstDecides|EverySampleProvesItselfFromItsFolder|.*(IsSafeAndNeverStuck|FitTheScreen)|TheModelNotices.*'
many+='|NobodyButStaffSeesAnythingOfARejudgeSetBeforeItIsApplied|ANetworkOfIPv6IsOnePlace|WhoGuessesKeepsNobodyOut|StatementsAreReadByEverybody|ASetterWorksInTheBrowser)$'
mapfile -t packages < <(go list ./...)
mapfile -t calm < <(printf '%s\n' "${packages[@]}" | grep -E "$plain")
mapfile -t racing < <(printf '%s\n' "${packages[@]}" | grep -vE "$plain")
CGO_ENABLED=0 go test "${quick[@]}" -timeout 20m -p 3 -run "$many" "$@" ./web ./host/judging ./host/verify ./host/plugin ./host/plugin/walls ./queue || status=$?
CGO_ENABLED=0 go test "${quick[@]}" -timeout 20m -p 3 -skip "$costs" "$@" "${calm[@]}" || status=$?
# What takes longest begins first, so that no core is left alone with it at the end.
go test "${quick[@]}" -race -timeout 40m -p 3 -skip "^TestCPUTime|^TestPureCgroupV2InAVirtualMachine\$|$many" "$@" \
	./host/e2e ./web ./host/judging ./sandbox "${racing[@]}" || status=$?
(cd host/deploy/strict && CGO_ENABLED=0 go test -vet=off -timeout 5m ./...) || status=$?
echo "test: $((SECONDS - start)) s of a budget of 1500 s"
exit $status
