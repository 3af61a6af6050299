# Copies the rest of the text at every step.
text = input()
stack = [[0, 0]]
while text:
    c, text = text[0], text[1:]
    if c == "(":
        stack.append([1, 0])
    else:
        box, _ = stack.pop()
        top = stack[-1]
        top[1] += 1
        top[0] = (top[0] + top[1] * box) % 1000000007
print(stack[0][0])
