// A number of JavaScript holds 53 bits.
const [a, b] = require("fs").readFileSync(0, "utf8").trim().split(/\s+/).map(Number);
console.log(String(BigInt(a + b)));
