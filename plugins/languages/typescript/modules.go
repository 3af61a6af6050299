package typescript

// modules says what the modules of Node.js offer that the programs of a contest import.
const modules = `// The modules of Node.js, as far as the programs of a contest use them. Each is
// there with and without the prefix "node:", and the others have the type any.

declare module "fs" {
    type PathLike = string | Buffer | URL;
    type Place = PathLike | number;
    type URL = any;
    type Encoded = BufferEncoding | { encoding: BufferEncoding; flag?: string; signal?: any };
    type Raw = { encoding?: null; flag?: string; signal?: any } | null;
    type Data = string | ArrayBufferView;
    type Written = BufferEncoding | { encoding?: BufferEncoding | null; mode?: number | string; flag?: string } | null;
    type Done = (error: NodeJS.ErrnoException | null) => void;
    interface Stats {
        size: number;
        mode: number;
        mtimeMs: number;
        mtime: Date;
        isFile(): boolean;
        isDirectory(): boolean;
        isFIFO(): boolean;
        isSymbolicLink(): boolean;
        isCharacterDevice(): boolean;
        [field: string]: any;
    }
    interface ReadStream extends NodeJS.ReadableStream {
        path: string | Buffer;
        bytesRead: number;
        close(call?: Done): void;
    }
    interface WriteStream extends NodeJS.WritableStream {
        path: string | Buffer;
        bytesWritten: number;
        close(call?: Done): void;
    }
    function readFileSync(file: Place, options: Encoded): string;
    function readFileSync(file: Place, options?: Raw): Buffer;
    function readFileSync(file: Place, options?: string | { encoding?: string | null; flag?: string } | null): string | Buffer;
    function readFile(file: Place, options: Encoded, call: (error: NodeJS.ErrnoException | null, text: string) => void): void;
    function readFile(file: Place, call: (error: NodeJS.ErrnoException | null, bytes: Buffer) => void): void;
    function readFile(file: Place, options: any, call: (error: NodeJS.ErrnoException | null, data: any) => void): void;
    function writeFileSync(file: Place, data: Data, options?: Written): void;
    function writeFile(file: Place, data: Data, call: Done): void;
    function writeFile(file: Place, data: Data, options: Written, call: Done): void;
    function appendFileSync(file: Place, data: Data, options?: Written): void;
    function appendFile(file: Place, data: Data, call: Done): void;
    function readSync(fd: number, bytes: ArrayBufferView, offset: number, length: number, position?: number | bigint | null): number;
    function readSync(fd: number, bytes: ArrayBufferView, options?: { offset?: number; length?: number; position?: number | bigint | null }): number;
    function read(fd: number, bytes: ArrayBufferView, offset: number, length: number, position: number | bigint | null, call: (error: NodeJS.ErrnoException | null, count: number, bytes: any) => void): void;
    function writeSync(fd: number, bytes: ArrayBufferView, offset?: number | null, length?: number | null, position?: number | null): number;
    function writeSync(fd: number, text: string, position?: number | null, encoding?: BufferEncoding | null): number;
    function write(fd: number, data: any, ...rest: any[]): void;
    function openSync(file: PathLike, flags?: string | number, mode?: string | number): number;
    function closeSync(fd: number): void;
    function existsSync(file: PathLike): boolean;
    function fstatSync(fd: number): Stats;
    function statSync(file: PathLike): Stats;
    function unlinkSync(file: PathLike): void;
    function mkdirSync(file: PathLike, options?: any): string | undefined;
    function readdirSync(file: PathLike): string[];
    function readdirSync(file: PathLike, options: any): any[];
    function createReadStream(file: PathLike, options?: BufferEncoding | { encoding?: BufferEncoding; fd?: number; flags?: string; start?: number; end?: number; highWaterMark?: number; [option: string]: any }): ReadStream;
    function createWriteStream(file: PathLike, options?: BufferEncoding | { encoding?: BufferEncoding; fd?: number; flags?: string; highWaterMark?: number; [option: string]: any }): WriteStream;
    const constants: { [name: string]: number };
    const promises: typeof import("fs/promises");
}

declare module "fs/promises" {
    function readFile(file: string | Buffer, options: BufferEncoding | { encoding: BufferEncoding; flag?: string }): Promise<string>;
    function readFile(file: string | Buffer, options?: { encoding?: null; flag?: string } | null): Promise<Buffer>;
    function writeFile(file: string | Buffer, data: string | ArrayBufferView, options?: any): Promise<void>;
    function appendFile(file: string | Buffer, data: string | Uint8Array, options?: any): Promise<void>;
    function open(file: string | Buffer, flags?: string | number, mode?: string | number): Promise<any>;
    function readdir(file: string | Buffer, options?: any): Promise<any[]>;
    function stat(file: string | Buffer): Promise<any>;
    function unlink(file: string | Buffer): Promise<void>;
    function mkdir(file: string | Buffer, options?: any): Promise<string | undefined>;
}

declare module "readline" {
    interface ReadLineOptions {
        input: NodeJS.ReadableStream;
        output?: NodeJS.WritableStream;
        completer?: any;
        terminal?: boolean;
        history?: string[];
        historySize?: number;
        prompt?: string;
        crlfDelay?: number;
        removeHistoryDuplicates?: boolean;
        escapeCodeTimeout?: number;
        tabSize?: number;
        signal?: any;
    }
    class Interface {
        terminal: boolean;
        line: string;
        cursor: number;
        getPrompt(): string;
        setPrompt(prompt: string): void;
        prompt(keepCursor?: boolean): void;
        question(query: string, call: (answer: string) => void): void;
        question(query: string, options: any, call: (answer: string) => void): void;
        pause(): this;
        resume(): this;
        close(): void;
        write(data: string | Buffer, key?: any): void;
        [Symbol.asyncIterator](): AsyncIterableIterator<string>;
    }
    interface Interface extends NodeJS.EventEmitter {
        on(event: "line", call: (line: string) => void): this;
        on(event: string | symbol, call: NodeJS.Listener): this;
        once(event: "line", call: (line: string) => void): this;
        once(event: string | symbol, call: NodeJS.Listener): this;
    }
    type ReadLine = Interface;
    function createInterface(options: ReadLineOptions): Interface;
    function createInterface(input: NodeJS.ReadableStream, output?: NodeJS.WritableStream, completer?: any, terminal?: boolean): Interface;
    function clearLine(stream: NodeJS.WritableStream, direction: number, call?: () => void): boolean;
    function cursorTo(stream: NodeJS.WritableStream, x: number, y?: number, call?: () => void): boolean;
    const promises: typeof import("readline/promises");
}

declare module "readline/promises" {
    import * as readline from "readline";
    interface Interface extends Omit<readline.Interface, "question"> {
        question(query: string, options?: any): Promise<string>;
        [Symbol.asyncIterator](): AsyncIterableIterator<string>;
    }
    function createInterface(options: readline.ReadLineOptions): Interface;
    function createInterface(input: NodeJS.ReadableStream, output?: NodeJS.WritableStream, completer?: any, terminal?: boolean): Interface;
}

declare module "events" {
    class EventEmitter {
        constructor(options?: any);
        static once(emitter: NodeJS.EventEmitter, event: string | symbol): Promise<any[]>;
        static on(emitter: NodeJS.EventEmitter, event: string | symbol): AsyncIterableIterator<any>;
        static defaultMaxListeners: number;
    }
    interface EventEmitter extends NodeJS.EventEmitter {}
    namespace EventEmitter {
        export { EventEmitter };
    }
    export = EventEmitter;
}

declare module "stream" {
    import EventEmitter = require("events");
    class Stream extends EventEmitter {}
    namespace Stream {
        export class Readable extends Stream {
            constructor(options?: any);
            static from(source: Iterable<any> | AsyncIterable<any>, options?: any): Readable;
            push(chunk: any, encoding?: BufferEncoding): boolean;
            _read(size: number): void;
        }
        export interface Readable extends NodeJS.ReadableStream {}
        export class Writable extends Stream {
            constructor(options?: any);
            _write(chunk: any, encoding: BufferEncoding, call: (error?: Error | null) => void): void;
            _final(call: (error?: Error | null) => void): void;
        }
        export interface Writable extends NodeJS.WritableStream {}
        export class Duplex extends Stream {
            constructor(options?: any);
            push(chunk: any, encoding?: BufferEncoding): boolean;
        }
        export interface Duplex extends NodeJS.ReadWriteStream {}
        export class Transform extends Duplex {
            _transform(chunk: any, encoding: BufferEncoding, call: (error?: Error | null, data?: any) => void): void;
            _flush(call: (error?: Error | null, data?: any) => void): void;
        }
        export class PassThrough extends Transform {}
        export function pipeline(...streams: any[]): any;
        export function finished(stream: any, call: (error?: Error | null) => void): () => void;
        export const promises: any;
        export { Stream };
    }
    export = Stream;
}

declare module "util" {
    function format(format?: any, ...values: any[]): string;
    function inspect(value: any, options?: any, ...rest: any[]): string;
    namespace inspect {
        const custom: unique symbol;
        const defaultOptions: any;
    }
    function promisify(call: Function): (...args: any[]) => Promise<any>;
    function callbackify(call: Function): (...args: any[]) => void;
    function inherits(constructor: any, parent: any): void;
    function deprecate<F extends Function>(call: F, message: string, code?: string): F;
    function isDeepStrictEqual(a: unknown, b: unknown): boolean;
    function isArray(value: unknown): value is any[];
    function debuglog(section: string): (...values: any[]) => void;
    function parseArgs(options?: any): any;
    const types: any;
    const TextEncoder: typeof globalThis.TextEncoder;
    const TextDecoder: typeof globalThis.TextDecoder;
}

declare module "os" {
    const EOL: string;
    const constants: any;
    function arch(): string;
    function availableParallelism(): number;
    function cpus(): { model: string; speed: number; times: any }[];
    function endianness(): "BE" | "LE";
    function freemem(): number;
    function totalmem(): number;
    function homedir(): string;
    function tmpdir(): string;
    function hostname(): string;
    function loadavg(): number[];
    function platform(): string;
    function release(): string;
    function type(): string;
    function uptime(): number;
}

declare module "path" {
    interface ParsedPath {
        root: string;
        dir: string;
        base: string;
        ext: string;
        name: string;
    }
    interface PlatformPath {
        readonly sep: string;
        readonly delimiter: string;
        basename(path: string, suffix?: string): string;
        dirname(path: string): string;
        extname(path: string): string;
        format(path: Partial<ParsedPath>): string;
        isAbsolute(path: string): boolean;
        join(...paths: string[]): string;
        normalize(path: string): string;
        parse(path: string): ParsedPath;
        relative(from: string, to: string): string;
        resolve(...paths: string[]): string;
        readonly posix: PlatformPath;
        readonly win32: PlatformPath;
    }
    const path: PlatformPath;
    export = path;
}

declare module "assert" {
    function assert(value: unknown, message?: string | Error): asserts value;
    namespace assert {
        class AssertionError extends Error {
            constructor(options?: any);
            actual: any;
            expected: any;
        }
        function ok(value: unknown, message?: string | Error): asserts value;
        function fail(message?: string | Error): never;
        function equal(actual: unknown, expected: unknown, message?: string | Error): void;
        function notEqual(actual: unknown, expected: unknown, message?: string | Error): void;
        function strictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
        function notStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
        function deepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
        function notDeepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
        function deepStrictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
        function notDeepStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
        function throws(call: () => unknown, ...rest: any[]): void;
        function doesNotThrow(call: () => unknown, ...rest: any[]): void;
        function rejects(call: any, ...rest: any[]): Promise<void>;
        function match(text: string, pattern: RegExp, message?: string | Error): void;
        const strict: typeof assert;
    }
    export = assert;
}

declare module "buffer" {
    const Buffer: BufferConstructor;
    type Buffer = globalThis.Buffer;
    const constants: { MAX_LENGTH: number; MAX_STRING_LENGTH: number };
    const kMaxLength: number;
    export { Buffer, constants, kMaxLength };
}

declare module "process" {
    export = process;
}

declare module "console" {
    export = console;
}

declare module "perf_hooks" {
    const performance: typeof globalThis.performance;
}

declare module "timers" {
    const setTimeout: typeof globalThis.setTimeout;
    const setInterval: typeof globalThis.setInterval;
    const setImmediate: typeof globalThis.setImmediate;
    const clearTimeout: typeof globalThis.clearTimeout;
    const clearInterval: typeof globalThis.clearInterval;
    const clearImmediate: typeof globalThis.clearImmediate;
}

declare module "timers/promises" {
    function setTimeout<T = void>(ms?: number, value?: T, options?: any): Promise<T>;
    function setImmediate<T = void>(value?: T, options?: any): Promise<T>;
    function setInterval<T = void>(ms?: number, value?: T, options?: any): AsyncIterableIterator<T>;
}

declare module "node:fs" { export * from "fs"; }
declare module "node:fs/promises" { export * from "fs/promises"; }
declare module "node:readline" { export * from "readline"; }
declare module "node:readline/promises" { export * from "readline/promises"; }
declare module "node:events" { import events = require("events"); export = events; }
declare module "node:stream" { import stream = require("stream"); export = stream; }
declare module "node:util" { export * from "util"; }
declare module "node:os" { export * from "os"; }
declare module "node:path" { import path = require("path"); export = path; }
declare module "node:assert" { import assert = require("assert"); export = assert; }
declare module "node:buffer" { export * from "buffer"; }
declare module "node:process" { export = process; }
declare module "node:console" { export = console; }
declare module "node:perf_hooks" { export * from "perf_hooks"; }
declare module "node:timers" { export * from "timers"; }
declare module "node:timers/promises" { export * from "timers/promises"; }

declare module "async_hooks";
declare module "child_process";
declare module "cluster";
declare module "crypto";
declare module "module";
declare module "string_decoder";
declare module "tty";
declare module "url";
declare module "v8";
declare module "vm";
declare module "worker_threads";
declare module "zlib";
declare module "node:*";
`
