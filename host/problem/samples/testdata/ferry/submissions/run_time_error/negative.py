# The root of a negative number is an exception in Python.
from math import sqrt

for _ in range(int(input())):
    w, v, c = map(float, input().split())
    print(w / sqrt(v * v - c * c))
