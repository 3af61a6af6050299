import sys


def main():
    data = list(map(int, sys.stdin.buffer.read().split()))
    k = data[1]
    seen = {}
    pairs = 0
    for x in data[2:]:
        pairs += seen.get(-x % k, 0)
        seen[x % k] = seen.get(x % k, 0) + 1
    print(pairs)


main()
