// usage: node viewer/page.mjs DIST ENGINE OUT
// What every page of `nanoscope export --format html` begins with: the client from DIST and the engine's module, in one
// file. The elements with the traces follow it (src/host/viewer/page/page.c). Its own policy lets nothing else run and asks
// nobody for anything: script and style are named by their hashes.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

const [dist, engine, out] = process.argv.slice(2);
const script = readFileSync(`${dist}/app.js`, "utf8").trim();
const style = readFileSync(`${dist}/style.css`, "utf8").trim();
const code = readFileSync(engine);

// Such a text would end the element, or begin a comment in it.
if (/<\/script|<!--/i.test(script) || /<\/style|<!--/i.test(style)) {
    throw new Error("viewer/page.mjs: script or style cannot be put into a page");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy = [
    "default-src 'none'",
    `script-src ${hash(script)} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types nanoscope",
].join("; ");

writeFileSync(
    out,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>nanoscope</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<script type="module">${script}</script>
</head>
<body>
<noscript>This page shows a trace, and needs JavaScript for it.</noscript>
<script type="application/x-nanoscope-engine" data-bytes="${code.length}">${deflateRawSync(code, { level: 9 }).toString("base64")}</script>
`,
);
