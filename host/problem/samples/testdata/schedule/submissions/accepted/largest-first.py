# Another order than that of the answers: the largest job that is ready.
import heapq
import sys


def main():
    data = list(map(int, sys.stdin.buffer.read().split()))
    n, m = data[0], data[1]
    later = [[] for _ in range(n + 1)]
    waits = [0] * (n + 1)
    for i in range(2, 2 + 2 * m, 2):
        later[data[i]].append(data[i + 1])
        waits[data[i + 1]] += 1
    ready = [-job for job in range(1, n + 1) if waits[job] == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        job = -heapq.heappop(ready)
        order.append(job)
        for other in later[job]:
            waits[other] -= 1
            if waits[other] == 0:
                heapq.heappush(ready, -other)
    print(*order if len(order) == n else ["impossible"])


main()
