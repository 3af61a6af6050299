// Runs checkers as WASI commands for the tests, one JSON line in and one out.
//
//   {"module": "tokens.wasm", "dir": "/tmp/x", "args": ["…"], "stdin": "/tmp/x/output"}
//   {"exit": 1, "stderr": "…"} or {"trap": "…"}
//
// dir is the module's "/".
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { WASI } from 'node:wasi';

const modules = new Map();

async function run(request) {
	if (!modules.has(request.module))
		modules.set(request.module, await WebAssembly.compile(fs.readFileSync(request.module)));
	const errors = path.join(request.dir, '.stderr');
	const stderr = fs.openSync(errors, 'w+');
	const stdin = fs.openSync(request.stdin || '/dev/null', 'r');
	try {
		const wasi = new WASI({
			version: 'preview1',
			args: request.args,
			preopens: { '/': request.dir },
			stdin,
			stderr,
			returnOnExit: true,
		});
		const instance = await WebAssembly.instantiate(modules.get(request.module), wasi.getImportObject());
		return { exit: wasi.start(instance), stderr: fs.readFileSync(errors, 'latin1') };
	} catch (error) {
		return { trap: String(error) };
	} finally {
		fs.closeSync(stdin);
		fs.closeSync(stderr);
	}
}

for await (const line of readline.createInterface({ input: process.stdin }))
	console.log(JSON.stringify(await run(JSON.parse(line))));
