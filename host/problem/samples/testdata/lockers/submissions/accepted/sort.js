const bytes = require("fs").readFileSync(0);
let at = 0;

function number() {
  while (bytes[at] < 48) at++;
  let n = 0;
  for (; bytes[at] >= 48; at++) n = 10 * n + bytes[at] - 48;
  return n;
}

const notes = new Uint32Array(number());
for (let i = 0; i < notes.length; i++) notes[i] = number();
notes.sort();
let best = 0;
let most = 0;
for (let i = 0, first = 0; i < notes.length; i++) {
  if (notes[i] !== notes[first]) first = i;
  if (i - first + 1 > most) {
    most = i - first + 1;
    best = notes[i];
  }
}
console.log(best + " " + most);
