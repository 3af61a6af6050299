# Forgets that steering upstream costs speed.
for _ in range(int(input())):
    w, v, c = map(float, input().split())
    print("impossible" if v <= c else w / v)
