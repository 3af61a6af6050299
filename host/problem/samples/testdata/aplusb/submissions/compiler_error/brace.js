// @EXPECTED_RESULTS@: COMPILER-ERROR
function sum(a, b) {
  return a + b;

console.log(sum(1, 2));
