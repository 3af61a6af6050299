"""Prints a box: nest LEFT RIGHT DEPTH, wide BOXES, or random BOXES SEED.

The same arguments give the same text everywhere, because it depends on nothing else.
"""
import sys

BITS = (1 << 64) - 1


def numbers(seed):
    """The numbers of SplitMix64, begun with the FNV-1a hash of a text."""
    state = 14695981039346656037
    for byte in seed.encode():
        state = (state ^ byte) * 1099511628211 & BITS
    while True:
        state = state + 0x9E3779B97F4A7C15 & BITS
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & BITS
        z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS
        yield z ^ z >> 31


def random_boxes(n, seed):
    """Opens and closes n boxes at random, one of them around all."""
    random = numbers(seed)
    text, depth, opened = ["("], 1, 1
    while opened < n:
        # A box is opened a little more often than closed.
        if depth == 1 or next(random) % 100 < 52:
            text.append("(")
            opened += 1
            depth += 1
        else:
            text.append(")")
            depth -= 1
    return "".join(text) + ")" * depth


kind, *rest = sys.argv[1:]
if kind == "nest":
    print(rest[0] * int(rest[2]) + rest[1] * int(rest[2]))
elif kind == "wide":
    print("(" + "()" * (int(rest[0]) - 1) + ")")
elif kind == "random":
    print(random_boxes(int(rest[0]), rest[1]))
else:
    sys.exit("there is no such kind of box: " + kind)
