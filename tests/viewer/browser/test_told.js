// test_told.js - that the page tells no more and no less than is known: rough quantiles, exact times, where a function
// stands, how many rows there are; and that a statement which takes too long can be ended.
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const { View, folder, launch, nanoscope, serve, violations } = require("./viewer");

const LINE = 1234;

/** So many calls that their quantiles come from the index; far down in its file. */
const PROGRAM = `${"\n".repeat(LINE - 1)}__attribute__((noinline)) int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 600000; i++)
        sum += leaf(i);
    return sum == 1;
}
`;

function record() {
    const at = (name) => path.join(folder, name);
    fs.writeFileSync(at("told.c"), PROGRAM);
    execFileSync(nanoscope, ["cc", "-O1", "-g", "-o", at("told"), at("told.c")]);
    execFileSync(nanoscope, ["record", "-q", "-o", at("told.nst"), "--", at("told")]);
    return at("told.nst");
}

/** The same program, of whose calls only the entries were timed. */
function recordEntries() {
    const trace = path.join(folder, "entries.nst");
    const program = path.join(folder, "told");
    execFileSync(nanoscope, ["record", "-q", "--timing", "entry", "-o", trace, "--", program]);
    return trace;
}

async function panel(view, title) {
    await view.panel(title);
    return await view.text(".panel:not([hidden])");
}

async function press(view, label) {
    await view.page.evaluate((text) => {
        [...document.querySelectorAll("#panel-sql button")]
            .find((button) => button.textContent === text)
            .click();
    }, label);
}

async function ask(view, sql) {
    await view.page.$eval(
        "textarea.sql",
        (box, text) => {
            box.value = text;
        },
        sql,
    );
    await press(view, "Run");
}

async function isHidden(view, label) {
    return await view.page.evaluate(
        (text) =>
            [...document.querySelectorAll("#panel-sql button")].find(
                (button) => button.textContent === text,
            ).hidden,
        label,
    );
}

async function run() {
    const trace = record();
    const server = await serve("--source", folder, trace);
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;

    await test("quantiles from the index are said to be rough, as by the command line", async () => {
        const report = JSON.parse(execFileSync(nanoscope, ["report", "--json", trace]));
        assert.equal(report.quantiles_rough, true);
        assert.match(await view.text(".panel:not([hidden]) .foot"), /quantiles are within 6\.3 %/);
        const about = await page.$$eval("[data-sort]", (all) =>
            all.filter((head) => /6\.3 %/.test(head.title)).map((head) => head.dataset.sort),
        );
        assert.deepEqual(about, ["p50", "p90", "p99"]);
    });
    await test("... and others are not", async () => {
        await page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            app.select({ from: app.whole.from, to: app.whole.from + 5 });
        });
        await view.rest();
        assert.doesNotMatch(await view.text(".panel:not([hidden])"), /6\.3 %/);
        await page.evaluate(() => globalThis.nanoscope.app.select(null));
        await view.rest();
    });
    await test("a range has whole nanoseconds, also in the address", async () => {
        await page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            app.select({ from: 1000.3, to: 2000.6 });
        });
        await new Promise((go) => setTimeout(go, 700));
        assert.match(page.url(), /[#&]range=1000-2001(&|$)/);
        await page.evaluate(() => globalThis.nanoscope.app.select(null));
    });
    await test("details are told to the nanosecond", async () => {
        await view.press("Enter");
        const call = await page.evaluate(() => globalThis.nanoscope.app.call);
        const count = (ns) => `${ns.toLocaleString("en-US")} ns`;
        const text = await panel(view, "Details");
        assert.ok(text.includes(`(${count(call.end - call.start)})`), text);
        assert.ok(text.includes(`(${count(call.self)})`), text);
        assert.doesNotMatch(text, /about \d|not timed|not seen/);
    });
    await test("a line's number is plain", async () => {
        await page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            const id = [...Array(app.trace.functions).keys()].find(
                (each) => app.functions.name(each) === "leaf",
            );
            app.setFunction(id);
        });
        const text = await panel(view, "Source");
        assert.match(text, /told\.c:123\d\b/);
    });
    await test("a source outside of all permitted folders is refused, and the page says what to do", async () => {
        const strict = await serve(trace);
        const other = await View.open(browser, strict.address);
        await other.page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            const id = [...Array(app.trace.functions).keys()].find(
                (each) => app.functions.name(each) === "leaf",
            );
            app.setFunction(id);
        });
        const text = await panel(other, "Source");
        assert.match(
            text,
            /told\.c is not below the folder where .* 'nanoscope open --source DIR'/,
        );
        await other.close();
        await strict.end();
    });
    await test("axe-core has no complaint about a source, which keys scroll", async () => {
        assert.deepEqual(await violations(view), []);
        await page.focus("#panel-source");
        const top = async () => await page.$eval("#panel-source", (box) => box.scrollTop);
        const before = await top();
        await view.press("Home");
        await page.waitForFunction(
            (was) => document.querySelector("#panel-source").scrollTop < was,
            { timeout: 5000 },
            before,
        );
    });
    await test("SQL says that there are more rows, not how many it has not counted", async () => {
        await panel(view, "SQL");
        await ask(view, "SELECT * FROM calls");
        await page.waitForSelector("#panel-sql tbody tr");
        assert.match(await view.text("#panel-sql .foot"), /^There are more rows\.$/);
        const tables = await view.text("#panel-sql .buttons");
        for (const name of ["processes", "left_out", "categories"]) {
            assert.ok(tables.includes(name), `${name} in ${tables}`);
        }
    });
    await test("a statement that runs can be cancelled, and another one asked", async () => {
        assert.equal(await isHidden(view, "Cancel"), true);
        await ask(
            view,
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        );
        await new Promise((go) => setTimeout(go, 300));
        assert.equal(await isHidden(view, "Cancel"), false);
        await press(view, "Cancel");
        assert.equal(await isHidden(view, "Cancel"), true);
        assert.match(await view.text("#panel-sql .hint"), /^Cancelled\.$/);
        await ask(view, "SELECT 42 AS answer");
        await page.waitForSelector("#panel-sql tbody tr");
        assert.match(await view.text("#panel-sql tbody"), /42/);
        assert.equal(await isHidden(view, "Cancel"), true);
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));
    await view.close();
    await server.end();

    await test("an end that was not timed is told with the call", async () => {
        const entries = await serve(recordEntries());
        const other = await View.open(browser, entries.address);
        await other.press("Enter");
        const text = await panel(other, "Details");
        assert.match(text, /about \d/);
        assert.match(text, /the end was not timed/);
        await other.close();
        await entries.end();
    });
    await browser.close();
    done();
}

void run();
