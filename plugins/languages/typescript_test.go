package languages_test

import (
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/abi"
)

// Programs read and write in many ways. Each of these is one, with what it prints
// when standard input is empty.
var typescriptPrograms = map[string]struct{ text, prints string }{
	"all at once": {`import * as fs from 'fs';
const numbers: number[] = fs.readFileSync(0, 'utf8').split(/\s+/).filter(w => w !== '').map(Number);
console.log('sum', numbers.reduce((a, b) => a + b, 0));
`, "sum 0"},
	"by require": {`const lines = require('fs').readFileSync('/dev/stdin').toString().split('\n');
const n: number = parseInt(lines[0]) || 7;
process.stdout.write(n + '\n');
`, "7"},
	"by a require of their own": {`declare function require(name: string): any;
declare const process: any;
const os = require('os');
const name = 'own', status = 1;
process.stdout.write(name + status + os.EOL);
`, "own1"},
	"by lines": {`import * as readline from 'readline';
const lines: string[] = [];
const rl = readline.createInterface({ input: process.stdin, output: process.stdout, terminal: false });
rl.on('line', line => { lines.push(line.trim()); }).on('close', () => console.log(lines.length + ' lines'));
`, "0 lines"},
	"by lines in a loop": {`import { createInterface } from 'node:readline';
async function main(): Promise<void> {
    let n = 0;
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) n += line.length;
    console.log('read', n);
}
main();
`, "read 0"},
	"by events": {`let text: string = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => { text += chunk; });
process.stdin.on('end', () => { console.log('got ' + text.length); });
`, "got 0"},
	"by bytes": {`import { readSync, writeSync } from 'fs';
const buffer: Buffer = Buffer.alloc(1 << 16);
const n = readSync(0, buffer, 0, buffer.length, null);
writeSync(1, 'bytes ' + n + ' ' + buffer.readInt32LE(0) + '\n');
`, "bytes 0 0"},
	"with other modules": {`import fs from 'fs';
import path from 'node:path';
import util = require('util');
import assert from 'assert';
import EventEmitter, { once } from 'events';
import { Readable } from 'stream';
import { performance } from 'perf_hooks';
import { createHash } from 'crypto';
class Counter extends EventEmitter { count = 0; }
const counter = new Counter().on('add', (n: number) => { counter.count += n; });
counter.emit('add', 2);
assert.strictEqual(path.join('a', 'b'), 'a/b');
const now: bigint = process.hrtime.bigint();
const timer: NodeJS.Timeout = setTimeout(() => {}, 1);
clearTimeout(timer);
const late = [typeof now, typeof once, typeof Readable, performance.now() > 0, createHash('md5').digest('hex').length, fs.existsSync('/')];
console.log(util.format('%d %s', counter.count, late.join(' ')), new TextDecoder().decode(Buffer.from('é')), [1, 2].at(-1));
`, "2 bigint function function true 32 true é 2"},
}

func TestTypeScriptKnowsWhatNodeOffers(t *testing.T) {
	t.Parallel()
	a := load(t, "typescript")
	var sources []abi.Source
	var program strings.Builder
	for name, p := range typescriptPrograms {
		file := strings.ReplaceAll(name, " ", "_")
		sources = append(sources, abi.Source{Name: file + ".ts", Text: p.text})
		program.WriteString("import './" + file + "';\n")
	}
	r := a.run(t, request(append(sources, abi.Source{Name: "main.ts", Text: program.String()})...))
	if r.code != 0 {
		t.Errorf("exit %d, stderr %q", r.code, r.stderr)
	}
	printed := strings.Split(r.stdout, "\n")
	for name, p := range typescriptPrograms {
		if !slices.Contains(printed, p.prints) {
			t.Errorf("the program that reads %s does not print %q:\n%s", name, p.prints, r.stdout)
		}
	}
}

// The compiler is told to pass over mistakes in declarations; ours have none.
func TestTheDeclarationsAreSound(t *testing.T) {
	t.Parallel()
	a := load(t, "typescript")
	q := request(abi.Source{Name: "a.ts", Text: "const n: number = [1].length;\nconsole.log(n);\n"})
	p := a.plan(t, q)
	args := slices.DeleteFunc(p.Compile[0].Args, func(arg string) bool { return arg == "--skipLibCheck" })
	strict := slices.Index(args, "--strict")
	if strict < 0 || len(args) == len(p.Compile[0].Args) {
		t.Fatalf("the arguments are %q", p.Compile[0].Args)
	}
	args[strict+1] = "true"
	p.Compile[0].Args = args
	if _, r := a.compile(t, q, p); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
}

func TestAWrongUseOfNodeIsACompileError(t *testing.T) {
	t.Parallel()
	text := "import { readFileSync } from 'fs';\nconst n: number = readFileSync(0, 'utf8');\nprocess.stdin.on(n);\nBuffer.alocate(1);\n"
	found := load(t, "typescript").compileErrors(t, request(abi.Source{Name: "a.ts", Text: text}))
	var lines []int
	for _, d := range found {
		lines = append(lines, d.Line)
	}
	if !slices.Equal(lines, []int{2, 3, 4}) {
		t.Errorf("errors are %+v, want one on each of the lines 2, 3 and 4", found)
	}
}
