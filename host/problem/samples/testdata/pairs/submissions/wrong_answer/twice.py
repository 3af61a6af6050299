# Counts every pair in both orders, and every bag with itself.
data = list(map(int, open(0).read().split()))
k, sweets = data[1], data[2:]
print(sum((x + y) % k == 0 for x in sweets for y in sweets))
