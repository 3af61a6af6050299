#!/bin/bash
# Runs every test with the race detector and says how long it took. Nothing may
# be skipped: DEEPOJ_TEST=require turns a missing service into a failure. What
# measures CPU time to the millisecond has the machine to itself, so it comes before
# all others. Virtual machines are a suite of their own: test-vm.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEEPOJ_TEST=${DEEPOJ_TEST:-require} CGO_ENABLED=1
# What `make build` has compiled is not compiled again.
export GOFLAGS="-trimpath ${GOFLAGS:-}"
# A program with the race detector waits a second before it ends, unless told not to;
# many tests start themselves again. What vet finds, make lint finds too, and who
# debugs a test builds it with symbols.
export GORACE=${GORACE:-atexit_sleep_ms=0}
quick=(-vet=off '-ldflags=-s -w')
start=$SECONDS
status=0
summer=$(go tool -n -modfile=.tools/go.mod gotestsum)
again=$(mktemp -d)
# suite NAME PACKAGES FLAG...: runs the tests of these packages. These tests kill, freeze and outlast one another on
# machines that are taken away from them for a second now and then. So where at most six have failed, and no data race
# was seen, each is run once more; what fails twice has failed, and what did not is named at the end, to be mended.
suite() {
	"$summer" --format standard-quiet --hide-summary skipped --packages "$2" --rerun-fails=1 --rerun-fails-max-failures=6 \
		--rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report "$again/$1" -- "${quick[@]}" "${@:3}"
}
suite clock ./sandbox -race -timeout 10m -run '^TestCPUTime' "$@" || status=$?
# What compares costs by CPU time needs no race detector, which makes it five times as long.
costs='^TestNo(Statement|Package)TakesMuchLonger'
CGO_ENABLED=0 suite costs ./host/problem/importing -timeout 10m -run "$costs" "$@" || status=$?
# Nor do packages that do one thing after another, tests that do it many thousand times,
# and those in the browser, which mostly is what takes its time; and Landlock holds only programs without C code.
plain='^deepoj/(checkers|plugins|web/(chart|locale)|host/(cmd|contest|deploy|draft|feed/(config|event|filter|rocks)|judge|people/strength|plugin/conformance|problem|reading|survey))(/|$)'
many='^(Test(LandlockAloneLeadsToNoTCP|WhoEndsFirstDecides|EverySampleProvesItselfFromItsFolder|.*IsSafeAndNeverStuck|TheModelNotices.*'
many+='|NobodyButStaffSeesAnythingOfARejudgeSetBeforeItIsApplied|ANetworkOfIPv6IsOnePlace|ALargeTransactionIsToldWhole|WhoGuessesKeepsNobodyOut'
many+='|EveryAddressLetsInWhoTheTableNames|ASpaceLetsInWhomItsRolesName|What(AFreeze|Feedback)HidesChangesNoAnswer|TheEventFeedEndsInWhatTheEndpointsHave)'
many+=$(awk '/^func Test/ { name = substr($2, 1, index($2, "(") - 1) } /[^A-Za-z]browser\(t\)/ { print "|" name }' web/*_test.go | sort -u | tr -d '\n')')$'
mapfile -t packages < <(go list ./...)
mapfile -t calm < <(printf '%s\n' "${packages[@]}" | grep -E "$plain")
mapfile -t racing < <(printf '%s\n' "${packages[@]}" | grep -vE "$plain|^deepoj/host/e2e$")
# What drives programs that are built without the race detector needs none itself; it waits much, so it runs beside all
# others. Of these, what takes longest begins first, so that no core is left alone with it at the end.
whole=$(mktemp)
CGO_ENABLED=0 suite whole ./host/e2e -timeout 60m "$@" >"$whole" 2>&1 &
beside=$!
thousands='./web ./host/judging ./host/verify ./host/plugin ./host/plugin/walls ./host/feed/postgres ./queue'
CGO_ENABLED=0 suite many "$thousands" -timeout 30m -p 2 -run "$many" "$@" || status=$?
CGO_ENABLED=0 suite calm "${calm[*]}" -timeout 30m -p 2 -skip "$costs" "$@" || status=$?
suite racing "./web ./host/judging ./sandbox ${racing[*]}" -race -timeout 40m -p 2 \
	-skip "^TestCPUTime|^TestPureCgroupV2InAVirtualMachine\$|$many" "$@" || status=$?
wait $beside || status=$?
cat "$whole"
rm "$whole"
find "$again" -type f -exec sed 's/^/run again: /' {} +
rm -r "$again"
(cd host/deploy/strict && CGO_ENABLED=0 go test -vet=off -timeout 5m ./...) || status=$?
echo "test: $((SECONDS - start)) s of a budget of 1500 s"
exit $status
