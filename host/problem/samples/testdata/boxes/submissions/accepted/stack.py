import sys


def main():
    modulus = 1000000007
    text = sys.stdin.readline().strip()
    totals, places = [0], [0]
    for c in text:
        if c == "(":
            totals.append(1)
            places.append(0)
        else:
            box = totals.pop()
            places.pop()
            places[-1] += 1
            totals[-1] = (totals[-1] + places[-1] * box) % modulus
    print(totals[0])


main()
