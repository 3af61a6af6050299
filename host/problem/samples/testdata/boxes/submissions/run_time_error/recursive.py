# Python gives up at a depth of a thousand calls.
text = iter(input())


def worth():
    total, place = 1, 0
    while next(text) == "(":
        place += 1
        total = (total + place * worth()) % 1000000007
    return total


next(text)
print(worth())
