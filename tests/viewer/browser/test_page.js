// test_page.js - the one-file page, opened from the disk: shows what the served one shows, says what the command line says, asks
// nobody for anything, and takes files that are dropped on it, as the served one does.
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
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

function makePage(trace, ...options) {
    const file = path.join(folder, `${path.basename(trace, ".nst").replace(/\W/g, "")}.html`);
    execFileSync(nanoscope, ["export", "--format", "html", ...options, "-o", file, trace]);
    return file;
}

function report(trace, ...options) {
    const text = execFileSync(nanoscope, ["report", "--json", ...options, trace]);
    return JSON.parse(text).functions;
}

/** Waits until the panel is filled and tiles are there; no network tells. */
async function settle(view) {
    await view.rest();
    await view.page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
    await view.rest();
}

async function openPage(browser, file, options) {
    const view = await View.open(browser, pathToFileURL(file).href, options);
    await settle(view);
    return view;
}

async function rows(view) {
    return await view.page.$$eval(".panel:not([hidden]) tbody tr", (all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join("|")),
    );
}

/** Whatever the page asked for that is not in it. */
function strangers(view, file) {
    const own = pathToFileURL(file).href;
    return view.asked.filter((url) => !/^(blob|data):/.test(url) && url.split("#")[0] !== own);
}

async function known(browser, trace) {
    const file = makePage(trace);
    const view = await openPage(browser, file);
    const { page } = view;

    await test("known calls are at known places", async () => {
        assert.equal(await view.text("h1"), "known.nst");
        for (const [time, depth, name] of [
            [2e6, 1, "load"],
            [7e6, 1, "render"],
        ]) {
            const { x, y } = await view.places(0, depth);
            await page.mouse.click(x(time), y + 4);
            await settle(view);
            const found = await page.evaluate(() => {
                const { app } = globalThis.nanoscope;
                return { depth: app.call.depth, name: app.functions.name(app.call.function) };
            });
            assert.deepEqual(found, { depth, name });
        }
        await view.press("Escape", "1");
    });
    await test("a search finds", async () => {
        await page.keyboard.press("/");
        await page.keyboard.type("rend");
        await settle(view);
        const found = await page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            return app.found.rows.map((row) => app.functions.name(row.function));
        });
        assert.deepEqual(found, ["render"]);
        await view.press("Escape", "Escape");
    });
    await test("a selection has the numbers of the command line", async () => {
        await page.evaluate(() => globalThis.nanoscope.app.select({ from: 5e6, to: 9e6 }));
        await settle(view);
        const told = await page.evaluate(async () => {
            const { app } = globalThis.nanoscope;
            const answer = await app.ask("report", { ...app.selectionQuery, sort: "name" });
            return answer.rows.map(({ function: id, ...row }) => ({
                name: app.functions.name(id),
                ...row,
            }));
        });
        const wanted = report(trace, "--from", "5ms", "--to", "9ms", "--sort", "name");
        assert.equal(told.length, wanted.length);
        for (const [i, row] of told.entries()) {
            const { name, calls, total, self, p50, max, bounds } = row;
            const other = wanted[i];
            assert.deepEqual(
                [name, calls, total, self, p50, max, bounds],
                [
                    other.function,
                    other.calls,
                    other.total_ns,
                    other.self_ns,
                    other.p50_ns,
                    other.max_ns,
                    other.bounds,
                ],
            );
        }
        const shown = await rows(view);
        assert.equal(shown.length, wanted.length);
        await view.press("Escape");
    });
    await test("what a page cannot have says why", async () => {
        for (const [title, why] of [
            ["Source", /nanoscope open TRACE, with --source/],
            ["SQL", /nanoscope query/],
        ]) {
            await view.panel(title);
            assert.match(await view.text(".panel:not([hidden])"), why);
        }
    });
    for (const theme of ["light", "dark"]) {
        const other = await openPage(browser, file, { theme });
        await test(`${theme}: no rule for accessible pages is broken in any panel`, async () => {
            const count = await other.page.$$eval('[role="tab"]', (tabs) => tabs.length);
            for (let i = 1; i <= Math.min(count, 9); i++) {
                await other.page.keyboard.press(String(i));
                await settle(other);
                assert.deepEqual(await violations(other), []);
            }
        });
        await other.close();
    }
    await test("the address of a view leads there again", async () => {
        await view.press("Escape", "1");
        await page.evaluate(() => globalThis.nanoscope.app.show({ from: 6e6, to: 8e6 }));
        await new Promise((go) => setTimeout(go, 700));
        const again = await View.open(browser, page.url());
        const { from, to } = await again.window();
        assert.ok(Math.abs(from - 6e6) < 10 && Math.abs(to - 8e6) < 10);
        await again.close();
    });
    await test("nobody was asked for anything, and nothing went wrong", async () => {
        assert.deepEqual(strangers(view, file), []);
        assert.deepEqual(view.wrong, []);
    });
    await test("the policy stops what the page might try", async () => {
        const tried = await page.evaluate(async () => {
            const image = new Image();
            const failed = new Promise((resolve) =>
                image.addEventListener("error", () => resolve("blocked")),
            );
            image.src = "http://127.0.0.1:9/x.png";
            const fetched = await fetch("http://127.0.0.1:9/").then(
                () => "sent",
                () => "blocked",
            );
            return [await failed, fetched];
        });
        assert.deepEqual(tried, ["blocked", "blocked"]);
        assert.ok(
            view.wrong.length > 0 &&
                view.wrong.every((line) => /Content.Security.Policy/.test(line)),
            view.wrong.join("\n"),
        );
    });
    await view.close();
}

/** Only a part of the trace is in the page, and its edges are bounds. */
async function part(browser, trace) {
    const file = makePage(trace, "--from", "6ms", "--to", "8ms");
    const view = await openPage(browser, file);
    await test("a part: its calls, at their times, with bounds where they were cut", async () => {
        const { whole, names } = await view.page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            const count = app.trace.functions;
            return {
                whole: app.whole,
                names: [...Array(count).keys()].map((id) => app.functions.name(id)),
            };
        });
        assert.deepEqual([whole.from, whole.to], [6e6, 8e6]);
        assert.match(await view.text("header"), /a part/);
        assert.ok(names.includes("render") && !names.includes("load"), names.join());
        await view.page.evaluate(() => globalThis.nanoscope.app.pickCall(0, 7e6, 0));
        const call = await view.page.evaluate(() => globalThis.nanoscope.app.call);
        assert.deepEqual(
            [call.start, call.end, call.start_bound, call.end_bound],
            [6e6, 8e6, true, true],
        );
    });
    await test("the rest is not in the file", async () => {
        const text = fs.readFileSync(file, "utf8");
        const packed = /<script type="application\/x-nanoscope-trace"[^>]*>([^<]*)</.exec(text)[1];
        const bytes = require("node:zlib").inflateRawSync(Buffer.from(packed, "base64"));
        assert.ok(bytes.includes("render") && !bytes.includes("load"));
    });
    await view.close();
}

/** A page with two traces, as docs/viewer-protocol.md has it. */
async function pair(browser, trace) {
    const [one, two] = [
        makePage(trace),
        makePage(describedTrace("tests/golden/traces/sample.txt")),
    ];
    const element = /<script type="application\/x-nanoscope-trace"[^>]*>[^<]*<\/script>/;
    const [other] = element.exec(fs.readFileSync(two, "utf8"));
    const both = path.join(folder, "both.html");
    fs.writeFileSync(
        both,
        fs.readFileSync(one, "utf8").replace(/<\/body>/, () => `${other}\n</body>`),
    );
    const view = await openPage(browser, both);
    await test("two traces in a page: each can be looked at", async () => {
        assert.equal(await view.text("h1"), "known.nst");
        await view.page.evaluate(() =>
            document.querySelector("header [aria-pressed=false]").click(),
        );
        await view.page.waitForFunction(
            () => document.querySelector("h1").innerText === "sample.nst",
        );
        await settle(view);
        assert.match(await view.text("tbody"), /read_file/);
        const diff = await view.page.evaluate(() => globalThis.nanoscope.app.ask("diff", {}));
        assert.ok(diff.rows.length > 3);
        assert.deepEqual(view.wrong, []);
    });
    await view.close();
}

async function hostile(browser) {
    const trace = makeTrace(
        '"><img src=x onerror=alert(1)><!--.nst',
        [
            "process 1 </script><script>alert(2)</script>",
            "thread 1 <img src=x onerror=alert(3)>",
            "0 enter </script><script>alert(4)</script>",
            "0 enter <!--<script>",
            "500000 exit",
            '500000 enter "><svg onload=alert(5)>',
            "1000000 exit",
            "1000000 exit",
            "1000000 close",
        ].join("\n"),
    );
    for (const each of [trace, describedTrace("tests/golden/traces/hostile.txt")]) {
        const file = makePage(each);
        const view = await openPage(browser, file);
        await test(`${path.basename(each)}: names stay text`, async () => {
            const panels = await view.page.$$eval('[role="tab"]', (tabs) => tabs.length);
            for (let i = 1; i <= Math.min(panels, 9); i++) {
                await view.press(String(i));
            }
            const made = await view.page.evaluate(() => ({
                scripts: document.scripts.length,
                others: document.querySelectorAll("img, svg, iframe, object, embed, base").length,
                text: /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(document.body.textContent),
            }));
            assert.deepEqual(made, { scripts: 1, others: 0, text: false });
            assert.equal(await view.text("h1"), path.basename(each));
            assert.deepEqual(view.wrong, []);
            assert.deepEqual(strangers(view, file), []);
        });
        await view.close();
    }
}

async function choose(view, ...files) {
    const input = await view.page.$("input[type=file]");
    await input.uploadFile(...files);
    await settle(view);
}

async function status(view) {
    await view.page.waitForSelector(".status.error:not([hidden])", { timeout: 5000 });
    return await view.text(".status");
}

/** Files that are chosen or dropped, in a page of either sort. */
async function files(browser, name, address, trace) {
    const view = await View.open(browser, address);
    const { page } = view;
    await settle(view);
    await test(`${name}: a file that is chosen is shown instead`, async () => {
        await choose(view, trace);
        await page.waitForFunction(() => document.querySelector("h1").innerText === "known.nst");
        await settle(view);
        assert.match(await view.text("tbody"), /render/);
        await view.press("w", "0", "2", "1");
        assert.deepEqual(view.wrong, []);
    });
    await test(`${name}: files that are dropped, two to compare`, async () => {
        const bytes = [trace, describedTrace("tests/golden/traces/sample.txt")].map((file) => [
            path.basename(file),
            fs.readFileSync(file).toString("base64"),
        ]);
        await page.evaluate((list) => {
            const data = new DataTransfer();
            for (const [each, text] of list) {
                data.items.add(
                    new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], each),
                );
            }
            for (const type of ["dragenter", "dragover", "drop"]) {
                document.body.dispatchEvent(
                    new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }),
                );
            }
        }, bytes);
        await page.waitForFunction(() => globalThis.nanoscope.app.trace.traces === 2);
        await settle(view);
        assert.equal(await view.text("h1"), "known.nst");
        assert.equal(await page.$eval(".drop", (sign) => sign.hidden).catch(() => true), true);
    });
    await test(`${name}: keys are for what is shown now`, async () => {
        await page.evaluate(() => globalThis.nanoscope.app.show({ from: 1e6, to: 2e6 }));
        await view.press("0");
        const { from, to } = await view.window();
        assert.deepEqual([from, to], [0, 10e6]);
    });
    await test(`${name}: a file of another kind is refused, and what is shown stays`, async () => {
        const text = path.join(folder, "other.json");
        fs.writeFileSync(text, "{}");
        await choose(view, text);
        assert.match(await status(view), /other\.json is no \.nst file\..*nanoscope import/);
        assert.equal(await view.text("h1"), "known.nst");
    });
    await test(`${name}: a damaged file says where`, async () => {
        const bytes = fs.readFileSync(trace);
        bytes[bytes.length - 60] ^= 1;
        const damaged = path.join(folder, "damaged.nst");
        fs.writeFileSync(damaged, bytes);
        await choose(view, damaged);
        assert.match(await status(view), /damaged\.nst: .*(damaged|checksum|malformed)/);
    });
    await test(`${name}: a file that was cut off is shown as far as it goes`, async () => {
        const cut = path.join(folder, "cut.nst");
        fs.writeFileSync(cut, fs.readFileSync(trace).subarray(0, -30));
        await choose(view, cut);
        await page.waitForFunction(() => document.querySelector("h1").innerText === "cut.nst");
        assert.match(await view.text("header"), /not complete/);
        assert.deepEqual(view.wrong, []);
    });
    await view.close();
}

async function run() {
    const browser = await launch();
    const trace = describedTrace("tests/viewer/browser/traces/known.txt");
    await known(browser, trace);
    await part(browser, trace);
    await pair(browser, trace);
    await hostile(browser);
    const other = describedTrace("tests/golden/traces/processes.txt");
    await files(browser, "page", pathToFileURL(makePage(other)).href, trace);
    const server = await serve(other);
    await files(browser, "served", server.address, trace);
    await server.end();
    await browser.close();
    done();
}

void run();
