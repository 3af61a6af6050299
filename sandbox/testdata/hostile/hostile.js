// What hostile programs do in JavaScript. Usage: hostile.js WAY
"use strict";

const ways = {
	spin() {
		for (;;);
	},
	heap() {
		const kept = [];
		for (;;) kept.push(new Array(1 << 14).fill(kept.length));
	},
	buffers() {
		const kept = [];
		for (;;) kept.push(Buffer.alloc(1 << 20, 1));
	},
	collect() { // garbage without end, for the collector's threads
		for (let kept = []; ; kept.push(new Array(64).fill(0))) if (kept.length > 10000) kept = [];
	},
	recursion() {
		const deeper = (n) => deeper(n + 1) + 1;
		deeper(0);
	},
	sockets() {
		const net = require("net");
		for (const [host, port] of [["127.0.0.1", 22], ["192.0.2.1", 80]]) {
			const s = net.connect(port, host, () => console.log("worked"));
			s.on("error", () => console.log("failed"));
		}
	},
};

ways[process.argv[2]]();
