# Counts only notes that follow each other.
import sys
from itertools import groupby

notes = map(int, sys.stdin.read().split()[1:])
count, locker = max((len(list(run)), -number) for number, run in groupby(notes))
print(-locker, count)
