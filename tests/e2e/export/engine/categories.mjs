// usage: node categories.mjs BUILD PAGE
// Opens what a one-file page holds as the page does, and prints the categories of the first trace's functions, a line each,
// sorted.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";

const [build, file] = process.argv.slice(2);
const { MemorySource, Module } = await import(pathToFileURL(`${build}/viewer/module.mjs`));
const page = readFileSync(file, "utf8");

function held(what) {
    const pattern = new RegExp(`<script type="?application/x-nanoscope-${what}"?[^>]*>([^<]*)<`, "g");
    return [...page.matchAll(pattern)].map(([, text]) => inflateRawSync(Buffer.from(text, "base64")));
}

const code = await WebAssembly.compile(held("engine")[0]);
const traces = held("trace").map((bytes) => ({ name: "trace", source: new MemorySource(bytes) }));
const module = await Module.open(code, traces, held("rules")[0] ?? null);
const { bytes } = module.ask("/api/trace");
console.log(JSON.parse(new TextDecoder().decode(bytes)).categories.sort().join("\n"));
