import sys
from collections import Counter

notes = sys.stdin.buffer.read().split()[1:]
counts = Counter(notes)
most = max(counts.values())
print(min(int(locker) for locker, count in counts.items() if count == most), most)
