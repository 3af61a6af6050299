const lines = require("fs").readFileSync(0, "utf8").split("\n");
const n = parseInt(lines[0]);
const out = [];
for (let i = 1; i <= n; i++) {
  const [w, v, c] = lines[i].split(" ").map(Number);
  out.push(v <= c ? "impossible" : String(w / Math.sqrt((v - c) * (v + c))));
}
console.log(out.join("\n"));
