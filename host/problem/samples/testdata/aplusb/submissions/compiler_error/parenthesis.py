# @EXPECTED_RESULTS@: COMPILER-ERROR
a, b = map(int, input().split())
print((a + b)
