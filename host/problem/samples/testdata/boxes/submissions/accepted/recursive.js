const text = require("fs").readFileSync(0);
const open = "(".charCodeAt(0);
const modulus = 1000000007;
let at = 0;

// product keeps every step below 2**53.
function product(a, b) {
  const high = Math.floor(b / 65536);
  return ((((a * high) % modulus) * 65536) + a * (b % 65536)) % modulus;
}

function worth() {
  let total = 1;
  at++;
  for (let place = 1; text[at] === open; place++) {
    total = (total + product(place, worth())) % modulus;
  }
  at++;
  return total;
}

console.log(worth());
