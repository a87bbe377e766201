// test_growing.js - a recording that is still under way: the page follows it, and learns new functions and threads by
// itself.
"use strict";
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const { View, folder, launch, nanoscope, serve } = require("./viewer");

const WAIT_MS = 20000;

/** Calls others than before once there is a file "late", has a thread more with "thread", and ends with "end". */
const PROGRAM = `
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) void early(volatile int *n) { ++*n; }
static __attribute__((noinline)) void late_leaf(volatile int *n) { ++*n; }
static __attribute__((noinline)) void late(volatile int *n) { late_leaf(n); }
static __attribute__((noinline)) void newcomer(volatile int *n) { late(n); }

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, 0);
}

static void *run(void *ended)
{
    volatile int n = 0;

    while (access(ended, F_OK) != 0) {
        for (int k = 0; k < 1000; k++)
            newcomer(&n);
        rest();
    }
    return 0;
}

int main(int argc, char **argv)
{
    volatile int n = 0;
    pthread_t thread = 0;

    for (int i = 0; i < 30000 && access(argv[3], F_OK) != 0; i++) {
        for (int k = 0; k < 1000; k++)
            early(&n);
        if (access(argv[1], F_OK) == 0)
            for (int k = 0; k < 1000; k++)
                late(&n);
        if (thread == 0 && access(argv[2], F_OK) == 0)
            pthread_create(&thread, 0, run, argv[3]);
        rest();
    }
    if (thread != 0)
        pthread_join(thread, 0);
    return argc == 0;
}
`;

function begin() {
    const at = (name) => path.join(folder, name);
    fs.writeFileSync(at("grow.c"), PROGRAM);
    const options = ["cc", "-O1", "-g", "-pthread", "-o", at("grow"), at("grow.c")];
    execFileSync(nanoscope, options);
    const signs = ["late", "thread", "end"].map(at);
    const recorder = spawn(
        nanoscope,
        ["record", "-q", "-o", at("grow.nst"), "--", at("grow"), ...signs],
        { stdio: "inherit" },
    );
    return {
        trace: at("grow.nst"),
        tell: (sign) => fs.writeFileSync(at(sign), ""),
        ended: new Promise((resolve) => recorder.on("exit", resolve)),
    };
}

/** Until there is something to see in the file. */
async function isWritten() {
    for (let i = 0; i < WAIT_MS / 100; i++) {
        const partial = fs.readdirSync(folder).find((name) => name.endsWith(".partial"));
        if (partial !== undefined && fs.statSync(path.join(folder, partial)).size > 1e6) {
            return;
        }
        await new Promise((go) => setTimeout(go, 100));
    }
    throw new Error("nothing is recorded");
}

/** The names in Top functions, once there are so many. */
async function top(view, count) {
    await view.page.waitForFunction(
        (least) => {
            const names = [...document.querySelectorAll("#panel-top tbody .name")];
            return names.length >= least && names.every((name) => name.textContent !== "…");
        },
        { timeout: WAIT_MS },
        count,
    );
    const names = await view.page.$$eval("#panel-top tbody .name", (all) =>
        all.map((name) => name.textContent),
    );
    return names.sort();
}

async function run() {
    const recording = begin();
    await isWritten();
    const server = await serve(recording.trace);
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;
    const loads = () => view.asked.filter((url) => url.endsWith("/app.js")).length;

    await test("a recording that goes on is told as such", async () => {
        assert.deepEqual(await top(view, 2), ["early", "main"]);
        await page.waitForFunction(
            () =>
                /1 thread, 2 functions\s*recording/.test(
                    document.querySelector("header").innerText,
                ),
            { timeout: WAIT_MS },
        );
    });
    await test("functions that are new get their names and colours", async () => {
        recording.tell("late");
        assert.deepEqual(await top(view, 4), ["early", "late", "late_leaf", "main"]);
        const plain = await page.evaluate(() => {
            const { functions } = globalThis.nanoscope.app;
            const ids = Array.from({ length: functions.total }, (_, id) => id);
            return [
                ids.length >= 4,
                ids.filter((id) => functions.name(id) === ""),
                ids.filter((id) => functions.rgb(id).join() === functions.rgb(null).join()),
            ];
        });
        assert.deepEqual(plain, [true, [], []]);
    });
    await test("so do threads that are new, and the tracks have their calls", async () => {
        recording.tell("thread");
        await page.waitForFunction(() => / 2 threads/.test(document.body.innerText), {
            timeout: WAIT_MS,
        });
        assert.deepEqual(await top(view, 6), [
            "early",
            "late",
            "late_leaf",
            "main",
            "newcomer",
            "run",
        ]);
        const seen = () => {
            const { app, timeline } = globalThis.nanoscope;
            return timeline.picture
                .wideSpans({ thread: 1, first: 0, end: 2 }, 1, 9)
                .map((span) => app.functions.name(span.function))
                .includes("run");
        };
        await page.waitForFunction(seen, { timeout: WAIT_MS });
        const options = await page.$$eval(".scope select option", (all) => all.length);
        assert.equal(options, 3);
    });
    await test("it ends when the recording does", async () => {
        recording.tell("end");
        assert.equal(await recording.ended, 0);
        await page.waitForFunction(() => document.querySelector(".chip") === null, {
            timeout: WAIT_MS,
        });
        await view.rest();
        const [calls, told] = await page.evaluate(async () => {
            const answer = await fetch("api/report");
            return [(await answer.json()).calls, globalThis.nanoscope.app.trace.calls];
        });
        assert.equal(told, calls);
    });
    await test("nothing went wrong, and the page was loaded once", async () => {
        assert.deepEqual(view.wrong, []);
        assert.equal(await page.$eval(".status", (line) => line.textContent), "");
        assert.equal(loads(), 1);
    });

    await browser.close();
    await server.end();
    done();
}

void run();
