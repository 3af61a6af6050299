# Forgets that the second box counts twice.
total, stack = 0, [0]
for c in input():
    if c == "(":
        stack.append(1)
    else:
        box = stack.pop()
        stack[-1] = (stack[-1] + box) % 1000000007
print(stack[0])
