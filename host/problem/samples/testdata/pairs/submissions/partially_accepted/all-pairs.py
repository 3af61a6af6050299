# Tries all pairs: too slow for the last group.
# @EXPECTED_SCORE@: 50
import sys


def main():
    data = list(map(int, sys.stdin.read().split()))
    k, sweets = data[1], [x % data[1] for x in data[2:]]
    pairs = 0
    for i, x in enumerate(sweets):
        pairs += sweets[:i].count((k - x) % k)
    print(pairs)


main()
