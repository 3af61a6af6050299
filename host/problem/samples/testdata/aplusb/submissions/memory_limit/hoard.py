# @EXPECTED_RESULTS@: MEMORY-LIMIT
kept = []
while True:
    kept.append(bytearray(b"x" * (1 << 20)))
