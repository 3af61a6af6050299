# @EXPECTED_RESULTS@: OUTPUT-LIMIT
line = "and so on " * 1000
while True:
    print(line)
