#!/bin/bash
# Boots two kernels and runs the sandbox's tests in them. DEEPOJ_VM='-test.run=NAME'
# looks into one test there and shows all that the machines say.
set -euo pipefail
export DEEPOJ_TEST=${DEEPOJ_TEST:-require}
sandbox/testdata/fetch-kernels || [ "$DEEPOJ_TEST" != require ]
go test -count=1 -v -timeout 25m -run '^TestPureCgroupV2InAVirtualMachine$' ./sandbox
