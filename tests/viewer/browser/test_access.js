// test_access.js - the page for those who do not see or do not point: axe-core's rules in both themes and all panels, and
// the tree that stands for the picture.
"use strict";
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, serve, violations } = require("./viewer");

async function run() {
    const server = await serve(describedTrace("tests/viewer/browser/traces/known.txt"));
    const browser = await launch();

    for (const theme of ["light", "dark"]) {
        const view = await View.open(browser, server.address, { theme });
        await test(`${theme}: as it opens`, async () => {
            assert.deepEqual(await violations(view), []);
        });
        const titles = await view.page.$$eval('[role="tab"]', (tabs) =>
            tabs.map((tab) => tab.textContent),
        );
        const { x, y } = await view.places(0, 1);
        await view.page.mouse.click(x(7e6), y + 4);
        for (const [i, title] of titles.entries()) {
            await test(`${theme}: ${title}`, async () => {
                await (await view.page.$$('[role="tab"]'))[i].click();
                await view.rest();
                assert.deepEqual(await violations(view), []);
            });
        }
        await test(`${theme}: help`, async () => {
            await view.press("?");
            assert.deepEqual(await violations(view), []);
            const before = await view.window();
            await view.press("w", "End");
            assert.deepEqual(await view.window(), before, "keys are not the page's meanwhile");
            await view.press("Escape");
            assert.equal(await view.page.$("dialog[open]"), null, "Escape closes it");
            await view.press("w");
            assert.notDeepEqual(await view.window(), before);
        });
        await test(`${theme}: the background`, async () => {
            const picture = await view.picture();
            const colour = picture.at(1270, 790);
            const light = Number(colour.slice(4).split(" ")[0]) > 127;
            assert.equal(light, theme === "light", colour);
        });
        await view.close();
    }

    await test("the tree says what the picture shows", async () => {
        const view = await View.open(browser, server.address);
        await new Promise((go) => setTimeout(go, 500));
        const rows = await view.page.$$eval('[role="treegrid"] [role="row"]', (all) =>
            all.map((row) =>
                [row.getAttribute("aria-level"), row.firstChild.textContent].join(" "),
            ),
        );
        for (const row of ["2 main", "3 load", "4 parse", "3 render", "2 work"]) {
            assert.ok(rows.includes(row), `${row} in ${rows.join(", ")}`);
        }
        await view.close();
    });
    await test("... with the calls' own times, also of those that reach out of the window", async () => {
        const view = await View.open(browser, server.address);
        const rows = async (from, to) => {
            await view.page.evaluate((range) => globalThis.nanoscope.app.show(range), { from, to });
            await new Promise((go) => setTimeout(go, 500));
            await view.rest();
            return await view.page.$$eval('[role="treegrid"] [role="row"]', (all) =>
                all.map((row) => [...row.children].map((cell) => cell.textContent).join("|")),
            );
        };
        const close = await rows(5.2e6, 5.56e6);
        assert.deepEqual(
            close.filter((row) => /^(main|render|parse|work)\|/.test(row)),
            [
                "main|0.000000000 s|10.00 ms, self 3.000 ms",
                "render|0.005000000 s|4.000 ms, self 3.900 ms",
                "parse|0.005500000 s|100.0 µs, self 100.0 µs",
            ],
        );
        const whole = await rows(0, 10e6);
        assert.ok(whole.includes("load|0.001000000 s|3.000 ms, self 1.000 ms"), whole.join("\n"));
        assert.ok(!whole.some((row) => row.includes("about")), whole.join("\n"));
        assert.deepEqual(view.wrong, []);
        await view.close();
    });
    await test("everything is reached by Tab", async () => {
        const view = await View.open(browser, server.address);
        const reached = new Set();
        for (let i = 0; i < 40; i++) {
            await view.page.keyboard.press("Tab");
            reached.add(
                await view.page.evaluate(() => {
                    const { activeElement: element } = document;
                    return `${element.getAttribute("role") ?? element.tagName.toLowerCase()}`;
                }),
            );
        }
        for (const what of ["combobox", "button", "treegrid", "tab"]) {
            assert.ok(reached.has(what), `${what} in ${[...reached].join(", ")}`);
        }
        await view.close();
    });

    await browser.close();
    await server.end();
    done();
}

void run();
