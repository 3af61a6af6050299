package typescript

// globals says what Node.js offers without any import. A backquote is written as ´, as Go has no other way to hold it
// here, and package embed would make the adapter larger by an eighth.
const globals = `// What Node.js offers to the programs of a contest, without any import.

declare var global: typeof globalThis;
declare var __dirname: string;
declare var __filename: string;
declare var exports: any;
declare var module: { exports: any; id: string; filename: string; loaded: boolean; children: any[]; paths: string[] };
declare var require: NodeJS.Require;
declare var process: NodeJS.Process;
declare var console: Console;
declare var Buffer: BufferConstructor;
declare var performance: { now(): number; timeOrigin: number; mark(name: string): any; measure(name: string, from?: string, to?: string): any };

declare function setTimeout<A extends any[]>(call: (...args: A) => void, ms?: number, ...args: A): NodeJS.Timeout;
declare function setInterval<A extends any[]>(call: (...args: A) => void, ms?: number, ...args: A): NodeJS.Timeout;
declare function setImmediate<A extends any[]>(call: (...args: A) => void, ...args: A): NodeJS.Immediate;
declare function clearTimeout(timer?: NodeJS.Timeout | number | string): void;
declare function clearInterval(timer?: NodeJS.Timeout | number | string): void;
declare function clearImmediate(timer?: NodeJS.Immediate): void;
declare function queueMicrotask(call: () => void): void;
declare function structuredClone<T>(value: T, options?: { transfer?: any[] }): T;
declare function btoa(text: string): string;
declare function atob(text: string): string;

declare var TextEncoder: { new (): TextEncoder };
declare var TextDecoder: { new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder };
interface TextEncoder {
    readonly encoding: string;
    encode(text?: string): Uint8Array;
    encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}
interface TextDecoder {
    readonly encoding: string;
    decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}
declare var URL: any;
declare var URLSearchParams: any;
declare var AbortController: any;
declare var WebAssembly: any;

interface Console {
    log(...values: any[]): void;
    info(...values: any[]): void;
    debug(...values: any[]): void;
    warn(...values: any[]): void;
    error(...values: any[]): void;
    trace(...values: any[]): void;
    dir(value: any, options?: any): void;
    table(rows: any, columns?: readonly string[]): void;
    assert(condition?: any, ...values: any[]): void;
    count(label?: string): void;
    countReset(label?: string): void;
    group(...labels: any[]): void;
    groupCollapsed(...labels: any[]): void;
    groupEnd(): void;
    time(label?: string): void;
    timeEnd(label?: string): void;
    timeLog(label?: string, ...values: any[]): void;
    Console: any;
}

type BufferEncoding = "ascii" | "utf8" | "utf-8" | "utf16le" | "ucs2" | "ucs-2" | "base64" | "base64url" | "latin1" | "binary" | "hex";

type BufferNumber = "UInt8" | "Int8" | ´${"UInt16" | "UInt32" | "Int16" | "Int32" | "Float" | "Double"}${"LE" | "BE"}´;
type BufferBigInt = ´Big${"Int" | "UInt"}64${"LE" | "BE"}´;
type BufferNumbers =
    & { [kind in BufferNumber as ´read${kind}´]: (at?: number) => number }
    & { [kind in BufferNumber as ´write${kind}´]: (value: number, at?: number) => number }
    & { [kind in BufferBigInt as ´read${kind}´]: (at?: number) => bigint }
    & { [kind in BufferBigInt as ´write${kind}´]: (value: bigint, at?: number) => number };

interface Buffer extends Uint8Array, BufferNumbers {
    toString(encoding?: BufferEncoding, from?: number, to?: number): string;
    toJSON(): { type: "Buffer"; data: number[] };
    write(text: string, encoding?: BufferEncoding): number;
    write(text: string, offset: number, encoding?: BufferEncoding): number;
    write(text: string, offset: number, length: number, encoding?: BufferEncoding): number;
    equals(other: Uint8Array): boolean;
    compare(other: Uint8Array, from?: number, to?: number, ownFrom?: number, ownTo?: number): -1 | 0 | 1;
    copy(target: Uint8Array, at?: number, from?: number, to?: number): number;
    slice(from?: number, to?: number): Buffer;
    subarray(from?: number, to?: number): Buffer;
    fill(value: string | Uint8Array | number, from?: number, to?: number, encoding?: BufferEncoding): this;
    indexOf(value: string | number | Uint8Array, from?: number, encoding?: BufferEncoding): number;
    lastIndexOf(value: string | number | Uint8Array, from?: number, encoding?: BufferEncoding): number;
    includes(value: string | number | Uint8Array, from?: number, encoding?: BufferEncoding): boolean;
}

interface BufferConstructor {
    new (...args: any[]): Buffer;
    readonly prototype: Buffer;
    from(bytes: ArrayBuffer | SharedArrayBuffer, from?: number, length?: number): Buffer;
    from(bytes: Uint8Array | readonly number[]): Buffer;
    from(text: string, encoding?: BufferEncoding): Buffer;
    of(...bytes: number[]): Buffer;
    alloc(size: number, fill?: string | Uint8Array | number, encoding?: BufferEncoding): Buffer;
    allocUnsafe(size: number): Buffer;
    allocUnsafeSlow(size: number): Buffer;
    concat(list: readonly Uint8Array[], length?: number): Buffer;
    byteLength(text: string | ArrayBuffer | ArrayBufferView, encoding?: BufferEncoding): number;
    compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1;
    isBuffer(value: any): value is Buffer;
    isEncoding(name: string): name is BufferEncoding;
    poolSize: number;
}

declare namespace NodeJS {
    interface Require {
        (id: string): any;
        resolve(id: string): string;
        cache: any;
        main: any;
    }

    interface ErrnoException extends Error {
        errno?: number;
        code?: string;
        path?: string;
        syscall?: string;
    }

    interface Timeout {
        ref(): this;
        unref(): this;
        hasRef(): boolean;
        refresh(): this;
        [Symbol.toPrimitive](): number;
    }

    interface Immediate {
        ref(): this;
        unref(): this;
        hasRef(): boolean;
    }

    type Listener = (...args: any[]) => void;

    interface EventEmitter {
        on(event: string | symbol, call: Listener): this;
        once(event: string | symbol, call: Listener): this;
        off(event: string | symbol, call: Listener): this;
        addListener(event: string | symbol, call: Listener): this;
        prependListener(event: string | symbol, call: Listener): this;
        prependOnceListener(event: string | symbol, call: Listener): this;
        removeListener(event: string | symbol, call: Listener): this;
        removeAllListeners(event?: string | symbol): this;
        emit(event: string | symbol, ...args: any[]): boolean;
        eventNames(): (string | symbol)[];
        listeners(event: string | symbol): Function[];
        listenerCount(event: string | symbol): number;
        setMaxListeners(count: number): this;
        getMaxListeners(): number;
    }

    interface ReadableStream extends EventEmitter {
        readable: boolean;
        read(size?: number): any;
        setEncoding(encoding: BufferEncoding): this;
        pause(): this;
        resume(): this;
        isPaused(): boolean;
        pipe<T extends WritableStream>(to: T, options?: { end?: boolean }): T;
        unpipe(from?: WritableStream): this;
        unshift(chunk: any, encoding?: BufferEncoding): void;
        destroy(error?: Error): this;
        [Symbol.asyncIterator](): AsyncIterableIterator<any>;
    }

    interface WritableStream extends EventEmitter {
        writable: boolean;
        write(chunk: string | Uint8Array, call?: (error?: Error | null) => void): boolean;
        write(chunk: string | Uint8Array, encoding?: BufferEncoding, call?: (error?: Error | null) => void): boolean;
        end(call?: () => void): this;
        end(chunk: string | Uint8Array, call?: () => void): this;
        end(chunk: string | Uint8Array, encoding?: BufferEncoding, call?: () => void): this;
        cork(): void;
        uncork(): void;
        destroy(error?: Error): this;
    }

    interface ReadWriteStream extends ReadableStream, WritableStream {
        pause(): this;
        resume(): this;
        destroy(error?: Error): this;
    }

    interface ReadStream extends ReadableStream {
        fd: number;
        isTTY: boolean;
        isRaw: boolean;
        setRawMode(raw: boolean): this;
        ref(): this;
        unref(): this;
        destroyed: boolean;
    }

    interface WriteStream extends WritableStream {
        fd: number;
        isTTY: boolean;
        columns: number;
        rows: number;
        writableLength: number;
        _handle: any;
    }

    interface Process extends EventEmitter {
        stdin: ReadStream;
        stdout: WriteStream;
        stderr: WriteStream;
        argv: string[];
        argv0: string;
        execArgv: string[];
        execPath: string;
        env: { [name: string]: string | undefined };
        exitCode: number | string | undefined;
        exit(code?: number | string): never;
        abort(): never;
        reallyExit(code?: number): never;
        cwd(): string;
        chdir(folder: string): void;
        pid: number;
        ppid: number;
        title: string;
        arch: string;
        platform: string;
        version: string;
        versions: { [name: string]: string };
        release: any;
        uptime(): number;
        hrtime: { (since?: [number, number]): [number, number]; bigint(): bigint };
        cpuUsage(since?: { user: number; system: number }): { user: number; system: number };
        memoryUsage: { (): { rss: number; heapTotal: number; heapUsed: number; external: number; arrayBuffers: number }; rss(): number };
        nextTick(call: Function, ...args: any[]): void;
        emitWarning(warning: string | Error, ...args: any[]): void;
        openStdin(): ReadStream;
        binding(name: string): any;
        kill(pid: number, signal?: string | number): true;
    }
}
`
