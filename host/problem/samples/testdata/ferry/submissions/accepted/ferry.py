from math import sqrt

for _ in range(int(input())):
    w, v, c = map(float, input().split())
    if v <= c:
        print("impossible")
    else:
        print(w / sqrt((v - c) * (v + c)))
