// usage: node same.mjs BUILD ASK TRACE [TRACE]
// Every kind of request about a trace, or two to compare, is answered byte for byte the same by the native engine (ASK,
// tests/e2e/export/engine/ask.c) and by the module of the page, which is run as the page's worker runs it. BUILD has both parts of
// it, wasm/engine.wasm and viewer/module.mjs.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [build, ask, ...files] = process.argv.slice(2);
const { MemorySource, Module } = await import(pathToFileURL(`${build}/viewer/module.mjs`));
const code = await WebAssembly.compile(readFileSync(`${build}/wasm/engine.wasm`));
const traces = files.map((name) => ({ name, source: new MemorySource(readFileSync(name)) }));

/** One engine for all requests, as in a page; ASK is a new one each time. */
const page = await Module.open(code, traces);

function native(request) {
    const { status, stdout, stderr } = spawnSync(ask, ["-b", ...files, request], {
        maxBuffer: 1 << 28,
    });
    if (status !== 0 && status !== 1) {
        throw new Error(`${ask}: ${stderr}`);
    }
    return { status: status === 0 ? 200 : Number(/\d+/.exec(stderr)[0]), bytes: stdout };
}

const trace = JSON.parse(native("/api/trace").bytes);
const { start, end } = trace;
const length = Math.max(end - start, 1);
const third = Math.floor(length / 3);
const whole = Math.ceil(Math.log2(end + 1));
const threads = trace.threads.map((_, i) => i).slice(0, 4);
const functions = [...Array(Math.min(trace.functions, 4)).keys()];
const windows = ["", `&from=${start + third}&to=${end - third}`, `&threads=${threads.at(-1) ?? 0}`];

const requests = [
    "/api/trace",
    "/api/functions?first=0&limit=20000",
    "/api/overview?width=300",
    "/api/marks",
    "/api/left-out",
    "/api/search?q=e",
    "/api/search?q=*a*",
    "/api/search?q=/^[a-m]/",
    "/api/nothing",
    "/api/query?sql=select+1",
    "/api/trace?trace=1",
    "/api/report?sort=wrong",
];
for (const window of windows) {
    for (const sort of ["total", "self", "calls", "p99", "max", "name"]) {
        requests.push(`/api/report?sort=${sort}${window}`);
    }
    requests.push(`/api/tree?limit=500${window}`, `/api/tree?invert=1${window}`);
    requests.push(`/api/shares?${window.slice(1)}`, `/api/report?only=*a*&except=/x/${window}`);
    for (const id of functions) {
        requests.push(
            `/api/sandwich?function=${id}${window}`,
            `/api/histogram?function=${id}${window}`,
            `/api/tree?root=${id}&invert=1${window}`,
            `/api/step?function=${id}&go=longest&nth=1${window}`,
        );
    }
}
for (const id of functions) {
    requests.push(`/api/step?function=${id}&at=${start + third}&go=next`);
    requests.push(`/api/step?function=${id}&at=${end}&go=previous`);
}
for (const zoom of [whole, whole - 3, whole - 8, 4].filter((each) => each >= 0)) {
    const first = Math.floor((start + third) / 2 ** zoom);
    const list = threads.join(",") || "0";
    requests.push(`/api/tiles?zoom=${zoom}&first=${first}&count=2&threads=${list}&depth=0&rows=64`);
}
for (const thread of threads) {
    for (const at of [start, start + third, end - 1].filter((each) => each >= 0)) {
        requests.push(`/api/call?thread=${thread}&at=${at}&depth=0`);
        requests.push(`/api/call?thread=${thread}&at=${at}&depth=1`);
    }
    requests.push(`/api/states?thread=${thread}&width=100`, `/api/samples?thread=${thread}&width=9`);
}
for (const { process: of, thread, name } of trace.counters) {
    const owner = of === undefined ? `thread=${thread}` : `process=${of}`;
    requests.push(`/api/counters?${owner}&name=${encodeURIComponent(name)}`);
}
if (files.length > 1) {
    requests.push("/api/diff", "/api/diff?sort=total&nodes=7", "/api/trace?trace=1", "/api/report?trace=1");
}

let wrong = 0;
const statuses = {};
for (const request of requests) {
    const one = native(request);
    const other = page.ask(request);
    statuses[one.status] = (statuses[one.status] ?? 0) + 1;
    if (one.status !== other.status || Buffer.compare(one.bytes, other.bytes) !== 0) {
        wrong++;
        console.log(`${request}: ${one.status} ${one.bytes.length} bytes, ${other.status} ${other.bytes.length}`);
    }
}
console.log(`${requests.length} requests, by status ${JSON.stringify(statuses)}, ${wrong} differ`);
process.exitCode = wrong > 0 ? 1 : 0;
