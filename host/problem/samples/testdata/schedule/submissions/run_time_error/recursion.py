# Python gives up at a depth of a thousand calls.
import sys


def main():
    data = list(map(int, sys.stdin.buffer.read().split()))
    n, m = data[0], data[1]
    later = [[] for _ in range(n + 1)]
    for i in range(2, 2 + 2 * m, 2):
        later[data[i]].append(data[i + 1])
    state = [0] * (n + 1)
    order = []

    def visit(job):
        state[job] = 1
        for other in later[job]:
            if state[other] == 1:
                return False
            if state[other] == 0 and not visit(other):
                return False
        state[job] = 2
        order.append(job)
        return True

    if all(state[job] == 2 or visit(job) for job in range(1, n + 1)):
        print(*reversed(order))
    else:
        print("impossible")


main()
