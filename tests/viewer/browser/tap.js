// tap.js - TAP for the tests in the browser: each test is a function, which fails by throwing.
"use strict";
const assert = require("node:assert/strict");

let count = 0;
let failed = 0;

/** Runs one test. A page that it is given is part of the message if it fails. */
async function test(name, run) {
    count++;
    try {
        await run();
        console.log(`ok ${count} - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${name}`);
        for (const line of String(error.stack ?? error)
            .split("\n")
            .slice(0, 12)) {
            console.log(`# ${line}`);
        }
    }
}

/** The plan, and the exit status. */
function done() {
    console.log(`1..${count}`);
    process.exitCode = failed > 0 ? 1 : 0;
}

module.exports = { assert, done, test };
