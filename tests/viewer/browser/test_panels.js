// test_panels.js - what the panels tell of a trace whose calls are known; that all can be done by keyboard; and that the
// rules for accessible pages hold everywhere.
"use strict";
const { execFileSync } = require("node:child_process");
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, nanoscope, serve, violations } = require("./viewer");

/** The lines of the table in the panel that is shown, cells joined by "|". */
async function lines(view, selector = ".panel:not([hidden]) tbody tr") {
    return await view.page.$$eval(selector, (rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join("|")),
    );
}

async function selectMs(view, from, to) {
    const { x, y } = await view.places(0, 0);
    const { mouse, keyboard } = view.page;
    await keyboard.down("Shift");
    await mouse.move(x(from * 1e6), y);
    await mouse.down();
    await mouse.move(x(to * 1e6), y, { steps: 4 });
    await mouse.up();
    await keyboard.up("Shift");
    await view.rest();
}

async function run() {
    const trace = describedTrace("tests/viewer/browser/traces/known.txt");
    const server = await serve(trace);
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;
    const call = async () => await page.evaluate(() => globalThis.nanoscope.app.call);
    const name = async (id) =>
        await page.evaluate((of) => globalThis.nanoscope.app.functions.name(of), id);

    await test("top functions, by self time and by what is clicked", async () => {
        const rows = await lines(view);
        assert.match(rows[0], /^render\|1\|4\.000 ms\|3\.900 ms/);
        await page.click("[data-sort=calls]");
        await view.rest();
        assert.match((await lines(view))[0], /^(work|parse)\|2\|/);
        assert.equal(
            await page.$eval("th[aria-sort]", (head) => head.textContent.trim()),
            "Calls▼",
        );
        await page.click("[data-sort=self]");
        await view.rest();
    });
    await test("a range that is selected is measured, and is what panels tell of", async () => {
        await selectMs(view, 5, 9);
        const { range } = await page.evaluate(() => ({ range: globalThis.nanoscope.app.range }));
        assert.ok(Math.abs(range.from - 5e6) < 3e4 && Math.abs(range.to - 9e6) < 3e4);
        assert.match(await view.text(".scope"), /Selected (4\.0|3\.9)/);
        const rows = await lines(view);
        assert.ok(rows.some((row) => row.startsWith("render|1|")));
        assert.ok(!rows.some((row) => row.startsWith("load|")));
        await view.press("Escape");
        assert.match(await view.text(".scope"), /Whole trace/);
    });
    await test("a function that is clicked leads to its slowest call", async () => {
        await page.evaluate(() => {
            [...document.querySelectorAll(".panel button.name")]
                .find((button) => button.textContent === "parse")
                .click();
        });
        await view.rest();
        const found = await call();
        assert.equal(await name(found.function), "parse");
        assert.equal(found.depth, 2);
    });
    await test("callers and callees of it", async () => {
        await view.panel("Callers and callees");
        const rows = await lines(view);
        assert.ok(
            rows.some((row) => row.startsWith("load|1|")),
            rows.join("\n"),
        );
        assert.ok(
            rows.some((row) => row.startsWith("render|1|")),
            rows.join("\n"),
        );
    });
    await test("its histogram and its slowest calls", async () => {
        await view.panel("Histogram");
        assert.match(await view.text(".panel:not([hidden])"), /2 calls/);
        const rows = await lines(view);
        assert.equal(rows.length, 2);
        assert.match(rows[0], /^1\. /);
        const bars = await page.$$eval(".bars [role=listitem]", (all) =>
            all.map((bar) => bar.title),
        );
        assert.ok(bars.length > 0);
    });
    await test("shares by category are of the whole", async () => {
        await view.panel("Shares");
        const rows = await lines(view);
        assert.ok(rows.length >= 1);
        const sum = rows.reduce((total, row) => total + parseFloat(row.split("|")[1]), 0);
        assert.ok(Math.abs(sum - 100) < 0.1, rows.join("\n"));
    });
    await test("the flame graph has all functions, and goes by keyboard", async () => {
        await view.panel("Flame graph");
        const rows = await page.$$eval("#panel-flame [role=row]", (all) =>
            all.map((row) => row.textContent),
        );
        for (const each of ["main", "load", "render", "parse", "work"]) {
            assert.ok(
                rows.some((row) => row.startsWith(each)),
                each,
            );
        }
        await page.focus("#panel-flame .mirror");
        await view.press("ArrowDown", "ArrowDown", "ArrowRight");
        assert.match(await view.text(".flame-bar"), /render|load/);
        await view.press("Enter");
        assert.match(await view.text(".flame-bar"), /Show all/);
        await view.press("Escape");
        assert.doesNotMatch(await view.text(".flame-bar"), /Show all/);
    });

    await test("SQL answers as the command line does, and sorts no calls at first", async () => {
        await view.panel("SQL");
        const sql = await page.$eval("textarea.sql", (box) => box.value);
        const ask = (text) =>
            JSON.parse(execFileSync(nanoscope, ["query", "--json", text, trace])).rows;
        const plan = ask(`EXPLAIN QUERY PLAN ${sql}`).map((row) => row.at(-1));
        assert.ok(plan.length > 2);
        assert.deepEqual(
            plan.filter((step) => /GROUP BY/.test(step)),
            [],
            "what groups must not sort: a large trace has more calls than memory",
        );
        await page.focus("textarea.sql");
        await page.keyboard.down("Control");
        await view.press("Enter");
        await page.keyboard.up("Control");
        await page.waitForSelector("#panel-sql tbody tr");
        assert.deepEqual(
            await lines(view),
            ask(sql).map((row) => row.join("|")),
        );
        await page.$eval("textarea.sql", (box) => {
            box.value = "SELECT nowhere FROM calls";
        });
        await page.evaluate(() => {
            [...document.querySelectorAll("#panel-sql button")]
                .find((button) => button.textContent === "Run")
                .click();
        });
        await view.rest();
        assert.match(await view.text("#panel-sql .hint"), /no such column: nowhere/);
        view.wrong.length = 0; // the browser tells of the answer's status
        await page.evaluate(() => document.activeElement.blur());
    });
    await test("from call to call by keyboard", async () => {
        await page.focus(".tracks .mirror");
        await view.press("0", "Escape", "Escape", "Enter");
        assert.equal(await name((await call()).function), "main");
        const shift = async (key) => {
            await page.keyboard.down("Shift");
            await view.press(key);
            await page.keyboard.up("Shift");
            return await name((await call()).function);
        };
        assert.equal(await shift("ArrowDown"), "render", "the longest callee");
        assert.equal(await shift("ArrowLeft"), "load");
        assert.equal(await shift("ArrowRight"), "render");
        assert.equal(await shift("ArrowDown"), "parse");
        const second = (await call()).start;
        await view.press("p");
        assert.ok((await call()).start < second, "the previous call of the function");
        await view.press("n");
        assert.equal((await call()).start, second);
        assert.equal(await shift("ArrowUp"), "render");
        await view.press("f");
        const shown = await view.window();
        assert.ok(shown.from <= 5e6 && shown.from > 4e6, "f fills the window with it");
        await view.press("0");
    });
    await test("the canvas is mirrored for those who cannot see it", async () => {
        await new Promise((go) => setTimeout(go, 400));
        const rows = await page.$$eval(".tracks [role=row][aria-level]", (all) =>
            all.map((row) => `${row.getAttribute("aria-level")} ${row.firstChild.textContent}`),
        );
        assert.ok(rows.some((row) => /^1 /.test(row)));
        for (const each of ["2 main", "3 load", "3 render", "4 parse", "2 work"]) {
            assert.ok(rows.includes(each), `${each} in ${rows}`);
        }
        const active = await page.$eval(".tracks .mirror", (tree) =>
            tree.getAttribute("aria-activedescendant"),
        );
        assert.match(await page.$eval(`#${active}`, (row) => row.textContent), /render/);
    });
    await test("threads fold and unfold", async () => {
        const calls = async () =>
            await page.evaluate(
                () =>
                    globalThis.nanoscope.timeline.layout.lanes.filter(
                        (lane) => lane.kind === "calls",
                    ).length,
            );
        const before = await calls();
        await view.press("c");
        assert.equal(await calls(), before - 1);
        await view.press("c", "C");
        assert.equal(await calls(), 0);
        await view.press("C");
        assert.equal(await calls(), before);
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));
    await view.close();

    for (const theme of ["light", "dark"]) {
        const page2 = await View.open(browser, server.base, { theme });
        await test(`${theme}: accessible as it opens`, async () => {
            assert.deepEqual(await violations(page2), []);
        });
        await page2.press("Enter");
        const titles = await page2.page.$$eval('[role="tab"]', (tabs) =>
            tabs.map((tab) => tab.textContent),
        );
        for (const title of titles) {
            await page2.panel(title);
            await test(`${theme}: accessible with ${title}`, async () => {
                assert.deepEqual(await violations(page2), []);
            });
        }
        await page2.press("/", "a", "ArrowDown");
        await test(`${theme}: accessible while searching`, async () => {
            assert.deepEqual(await violations(page2), []);
        });
        await page2.press("Escape", "Escape", "Escape", "?");
        await test(`${theme}: accessible with the page of keys`, async () => {
            assert.deepEqual(await violations(page2), []);
        });
        await page2.close();
    }

    await browser.close();
    await server.end();
    done();
}

void run();
