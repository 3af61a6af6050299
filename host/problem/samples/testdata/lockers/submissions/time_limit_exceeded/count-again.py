import sys

notes = list(map(int, sys.stdin.read().split()))[1:]
best = max(sorted(set(notes)), key=notes.count)
print(best, notes.count(best))
