// test_compare.js - two traces whose differences are known: what the panel that compares them tells, and what it paints.
"use strict";
const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const {
    View,
    describedTrace,
    folder,
    launch,
    makeTrace,
    nanoscope,
    serve,
    violations,
} = require("./viewer");

/** From "1 enter load" with milliseconds, as make_trace reads it. */
function steps(text) {
    return text
        .trim()
        .split("\n")
        .map((line) => line.trim().replace(/^[\d.]+/, (ms) => String(Math.round(ms * 1e6))))
        .join("\n");
}

const BEFORE = `process 1 p\nthread 1 main
${steps(`0 enter main
    1 enter load
    1 enter parse
    3 exit
    4 exit
    5 enter render
    5.5 enter parse
    5.6 exit
    9 exit
    15 enter gone
    16 exit
    20 exit
    20 close`)}
thread 2 worker\n${steps(`1 enter work
    2 exit
    2 close`)}\n`;
const AFTER = `process 1 p\nthread 8 worker\n${steps(`1 enter work
    4 exit
    4 close`)}
thread 9 main
${steps(`0 enter main
    1 enter load
    1 enter parse
    6 exit
    7 exit
    8 enter render
    10 exit
    12 enter fresh
    14 exit
    20 exit
    20 close`)}\n`;

async function lines(view) {
    return await view.page.$$eval("#panel-compare tbody tr", (rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join("|")),
    );
}

async function press(view, title) {
    await view.page.evaluate((name) => {
        [...document.querySelectorAll("#panel-compare button")]
            .find((button) => button.textContent === name)
            .click();
    }, title);
    await view.rest();
}

async function choose(view, label, value) {
    await view.page.select(`#panel-compare select[aria-label="${label}"]`, value);
    await view.rest();
}

async function type(view, text) {
    await view.page.$eval(".filter", (box) => {
        box.value = "";
    });
    await view.page.type(".filter", text === "" ? " \b" : text);
    await view.rest();
}

/** Does what makes the page begin anew, and waits until it has. */
async function reload(view, act) {
    await view.page.evaluate(() => {
        globalThis.nanoscope.isOld = true;
    });
    await act();
    await view.page.waitForFunction(
        () => globalThis.nanoscope?.isOld === undefined && globalThis.nanoscope !== undefined,
    );
    await view.rest();
}

/** The same address again, from nothing. */
async function again(browser, view) {
    await new Promise((go) => setTimeout(go, 500));
    return await View.open(browser, view.page.url());
}

async function tables(view) {
    await test("the page opens on what changed most, by self time", async () => {
        assert.equal(await view.text('[aria-selected="true"]'), "Compare");
        assert.deepEqual(await lines(view), [
            "parse|2.100 ms|5.000 ms|+2.900 ms|2.38×|2|1",
            "fresh|-|2.000 ms|+2.000 ms|new|-|1",
            "main|12.00 ms|10.00 ms|−2.000 ms|0.83×|1|1",
            "work|1.000 ms|3.000 ms|+2.000 ms|3.00×|1|1",
            "render|3.900 ms|2.000 ms|−1.900 ms|0.51×|1|1",
            "gone|1.000 ms|-|−1.000 ms|gone|1|-",
            "load|1.000 ms|1.000 ms|±0 ns|1.00×|1|1",
        ]);
        assert.match(await view.text("#panel-compare .foot"), /A is a\.nst: 7 calls, 21\.00 ms/);
    });
    await test("... or by what is clicked", async () => {
        await view.page.click("#panel-compare [data-sort=ratio]");
        assert.deepEqual(
            (await lines(view)).map((row) => row.split("|")[0]),
            ["fresh", "gone", "work", "parse", "render", "main", "load"],
        );
        const head = "#panel-compare th[aria-sort=descending]";
        assert.match(await view.text(head), /Ratio/);
        await view.page.click("#panel-compare [data-sort=name]");
        assert.match((await lines(view))[0], /^fresh/);
        await view.page.click("#panel-compare [data-sort=change]");
    });
    await test("total, per call, and calls", async () => {
        await choose(view, "What is measured", "total");
        assert.match((await lines(view))[0], /^load\|3\.000 ms\|6\.000 ms\|\+3\.000 ms\|2\.00×/);
        await choose(view, "What is measured", "self-per-call");
        assert.match((await lines(view))[0], /^parse\|1\.050 ms\|5\.000 ms\|\+3\.950 ms\|4\.76×/);
        assert.match((await lines(view)).at(-1), /^(fresh\|-\|2\.000 ms\|-|gone\|1\.000 ms\|-\|-)/);
        await choose(view, "What is measured", "calls");
        assert.ok((await lines(view)).includes("parse|2|1|−1|0.50×"));
        await choose(view, "What is measured", "self");
    });
    await test("what got slower, what is new, what has a name", async () => {
        const names = async () => (await lines(view)).map((row) => row.split("|")[0]).join(" ");
        await choose(view, "Which are shown", "slower");
        assert.equal(await names(), "parse fresh work");
        await choose(view, "Which are shown", "new");
        assert.equal(await names(), "fresh");
        await choose(view, "Which are shown", "gone");
        assert.equal(await names(), "gone");
        await choose(view, "Which are shown", "all");
        await type(view, "R*E*");
        assert.equal(await names(), "render");
        await type(view, "/^[lm]/");
        assert.equal(await names(), "main load");
        await type(view, "nothing");
        assert.match(await view.text("#panel-compare"), /None is of that kind/);
        await view.page.evaluate(() => globalThis.nanoscope.app.setCompare({ filter: "" }));
    });
    await test("paths tell their callers, and lead to the flame graph", async () => {
        await press(view, "Paths");
        const rows = await lines(view);
        assert.match(
            rows[0],
            /^parse‹ load ‹ main\|2\.000 ms\|5\.000 ms\|\+3\.000 ms\|2\.50×\|1\|1/,
        );
        assert.ok(rows.some((row) => /^parse‹ render ‹ main\|100\.0 µs\|-/.test(row)));
        await view.page.click("#panel-compare tbody button");
        await view.rest();
        assert.match(await view.text("#panel-compare .flame-bar"), /Show all\s*parse/);
        assert.match(await view.text("#panel-compare .flame-bar"), /total 2\.000 ms to 5\.000 ms/);
        await press(view, "Show all");
    });
}

/** Whether a colour is of the orange or the blue end, or neither. */
function tone(colour) {
    const [r, , b] = colour.match(/\d+/g).map(Number);
    return r - b > 60 ? "slower" : b - r > 60 ? "faster" : "same";
}

async function flame(view) {
    const box = await view.page.$eval("#panel-compare canvas", (canvas) => {
        const { left, top, width } = canvas.getBoundingClientRect();
        return { left, top, width };
    });
    /** The colour at a time of B's 23 ms, in a row. */
    const colours = async (whole, places) => {
        const picture = await view.picture();
        return places.map(([ms, row]) =>
            tone(
                picture.at(
                    Math.round(box.left + (ms / whole) * box.width),
                    Math.round(box.top + row * 18 + 4),
                ),
            ),
        );
    };
    await test("the flame graph: widths of B, orange where it got slower, blue where faster", async () => {
        await choose(view, "What is measured", "total");
        const places = [
            [10.5, 0],
            [5.5, 1],
            [7.8, 1],
            [9.8, 1],
            [4, 2],
            [22.5, 0],
        ];
        assert.deepEqual(await colours(23, places), [
            "same", // main
            "slower", // load
            "faster", // render
            "slower", // fresh
            "slower", // parse
            "slower", // work
        ]);
    });
    await test("... and of A", async () => {
        await press(view, "A");
        const places = [
            [2.5, 1],
            [6.5, 1],
            [7.8, 1],
            [20.5, 0],
        ];
        assert.deepEqual(await colours(21, places), [
            "slower", // load
            "faster", // render
            "faster", // gone
            "slower", // work
        ]);
        assert.match(await view.text(".legend"), /half or less\s*twice or more\s*only in A/);
        await press(view, "B");
    });
    await test("it goes by keyboard, and says what it shows", async () => {
        await view.page.focus("#panel-compare .mirror");
        await view.press("ArrowDown", "ArrowDown", "ArrowRight");
        assert.match(
            await view.text("#panel-compare .flame-bar"),
            /render\s*total 4\.000 ms to 2\.000 ms/,
        );
        const active = await view.page.$eval(
            "#panel-compare .mirror",
            (mirror) =>
                document.getElementById(mirror.getAttribute("aria-activedescendant")).textContent,
        );
        assert.equal(active, "render4.000 ms2.000 ms−2.000 ms0.50×");
        await view.press("Enter");
        assert.match(await view.text("#panel-compare .flame-bar"), /Show all/);
    });
}

/** The page in one file, from the disk; nothing to look at where nanoscope was built without. */
async function page(browser, a, b) {
    const file = path.join(folder, "change.html");
    const { status, stderr } = spawnSync(nanoscope, ["diff", "-o", file, "-N", "work", a, b]);
    if (status !== 0) {
        await test("without the engine as a module it says so", async () => {
            assert.match(String(stderr), /built without/);
        });
        return;
    }
    const view = await View.open(browser, `file://${file}`);
    await test("a page from the disk opens on the comparison", async () => {
        assert.equal(await view.text('[aria-selected="true"]'), "Compare");
        assert.equal((await lines(view))[0], "parse|2.100 ms|5.000 ms|+2.900 ms|2.38×|2|1");
        assert.ok(!(await lines(view)).some((row) => row.startsWith("work")));
    });
    await test("... has the other trace, too, and asks nobody", async () => {
        await reload(view, () =>
            view.page.evaluate(() => document.querySelector("header [aria-pressed=false]").click()),
        );
        assert.equal(await view.text("h1"), "b.nst");
        await press(view, "Flame graph");
        assert.match(await view.text("#panel-compare .flame-bar"), /A is a\.nst.*B is b\.nst/);
        assert.deepEqual(
            view.asked.filter((url) => !/^(file|blob|data):/.test(url)),
            [],
        );
        assert.deepEqual(view.wrong, []);
    });
    await view.close();
}

async function run() {
    const [a, b] = [makeTrace("a.nst", BEFORE), makeTrace("b.nst", AFTER)];
    const server = await serve(a, b);
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const app = (page, name) => page.evaluate((of) => globalThis.nanoscope.app[of], name);

    await tables(view);
    await flame(view);
    await test("the address holds all of it", async () => {
        const copy = await again(browser, view);
        assert.match(await copy.text("#panel-compare .flame-bar"), /Show all\s*render/);
        assert.deepEqual(await app(copy.page, "compare"), await app(view.page, "compare"));
        await copy.close();
    });
    await test("a range of A is compared with the same time of B, or all, or B's own", async () => {
        await view.page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            app.setCompare({ view: "functions", measure: null, zoom: -1 });
            app.select({ from: 0, to: 5e6 });
        });
        await new Promise((go) => setTimeout(go, 300));
        await view.rest();
        assert.ok((await lines(view)).includes("parse|2.000 ms|4.000 ms|+2.000 ms|2.00×|1|1"));
        await choose(view, "Part of the other trace", "whole");
        assert.ok((await lines(view)).includes("parse|2.000 ms|5.000 ms|+3.000 ms|2.50×|1|1"));
        await choose(view, "Part of the other trace", "own");
        await reload(view, () =>
            view.page.evaluate(() => document.querySelector("header [aria-pressed=false]").click()),
        );
        await view.page.evaluate(() => globalThis.nanoscope.app.select({ from: 0, to: 2e6 }));
        await new Promise((go) => setTimeout(go, 300));
        await view.rest();
        assert.equal(await view.text("h1"), "b.nst");
        assert.deepEqual(await app(view.page, "otherRange"), { from: 0, to: 5e6 });
        assert.ok((await lines(view)).includes("parse|2.000 ms|1.000 ms|−1.000 ms|0.50×|1|1"));
    });
    await test("a thread is compared with the one of that name", async () => {
        await view.page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            app.otherRange = null;
            app.select(null, [0]);
        });
        await new Promise((go) => setTimeout(go, 300));
        await view.rest();
        assert.deepEqual(await lines(view), ["work|1.000 ms|3.000 ms|+2.000 ms|3.00×|1|1"]);
        assert.match(await view.text("#panel-compare .foot"), /Thread of A: .*2.*of B: .*8/);
    });
    await test("a function leads to its slowest call, in the trace that has it", async () => {
        await view.page.evaluate(() => globalThis.nanoscope.app.select(null, null));
        await new Promise((go) => setTimeout(go, 300));
        await view.rest();
        await press(view, "parse");
        assert.equal((await app(view.page, "call")).start, 1e6);
        await reload(view, () =>
            view.page.evaluate(() => {
                [...document.querySelectorAll("#panel-compare button")]
                    .find((button) => button.textContent === "gone")
                    .click();
            }),
        );
        assert.equal(await view.text("h1"), "a.nst");
        const name = await view.page.evaluate(() => {
            const { functions, function: id } = globalThis.nanoscope.app;
            return functions.name(id);
        });
        assert.equal(name, "gone");
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));
    await view.close();

    for (const theme of ["light", "dark"]) {
        for (const title of ["Functions", "Paths", "Flame graph"]) {
            const page = await View.open(browser, server.base, { theme });
            await press(page, title);
            await test(`${theme}: accessible with ${title}`, async () =>
                assert.deepEqual(await violations(page), []));
            await page.close();
        }
    }
    await server.end();
    await page(browser, a, b);

    const alone = await serve(describedTrace("tests/viewer/browser/traces/known.txt"));
    const one = await View.open(browser, alone.address);
    await test("with one trace it says how to compare two", async () => {
        await one.page.evaluate(() => globalThis.nanoscope.app.setPanel("compare"));
        await one.rest();
        assert.match(await one.text("#panel-compare"), /nanoscope open known\.nst AFTER\.nst/);
    });
    await browser.close();
    await alone.end();
    done();
}

void run();
