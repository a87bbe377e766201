// test_names.js - names that were made to do harm are text, wherever they are shown.
"use strict";
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, makeTrace, serve } = require("./viewer");

async function run() {
    const many = makeTrace(
        "<img src=x onerror=alert(1)>.nst",
        [
            "process 1 <script>alert(2)</script>",
            "thread 1 <img src=x onerror=alert(3)>",
            "0 enter <img src=x onerror=alert(4)>",
            "0 enter javascript:alert(5)",
            "1000 mark <svg onload=alert(6)>",
            "500000 exit",
            '500000 enter "><script>alert(7)</script>',
            "1000000 exit",
            "1000000 exit",
            "1000000 close",
        ].join("\n"),
    );
    const browser = await launch();
    for (const trace of [many, describedTrace("tests/golden/traces/hostile.txt")]) {
        const server = await serve(trace);
        const view = await View.open(browser, server.address);
        const name = trace.slice(trace.lastIndexOf("/") + 1);

        await test(`${name}: opens as any other`, async () => {
            assert.deepEqual(view.wrong, []);
        });
        await test(`${name}: everything can be looked at`, async () => {
            for (const tab of await view.page.$$('[role="tab"]')) {
                await tab.click();
                await view.rest();
            }
            const { x, y } = await view.places(0, 0);
            await view.page.mouse.move(x(10), y + 4);
            await view.page.mouse.click(x(10), y + 4);
            await view.press("1", "Enter", "?");
            assert.deepEqual(view.wrong, []);
        });
        await test(`${name}: no element was made of a name`, async () => {
            const made = await view.page.evaluate(() => ({
                scripts: [...document.scripts].map((each) => each.getAttribute("src")),
                others: document.querySelectorAll("img, svg, iframe, object, embed, base").length,
                handlers: [...document.querySelectorAll("*")].filter((each) =>
                    [...each.attributes].some((attribute) => attribute.name.startsWith("on")),
                ).length,
            }));
            assert.deepEqual(made, { scripts: ["app.js"], others: 0, handlers: 0 });
        });
        await test(`${name}: control characters are shown, not obeyed`, async () => {
            const text = await view.page.evaluate(() => document.body.textContent);
            assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
        });
        await test(`${name}: nothing was asked of anybody else`, async () => {
            assert.deepEqual(
                view.asked.filter((url) => !url.startsWith(server.base) && url !== "data:,"),
                [],
            );
        });
        await view.close();
        await server.end();
    }
    await browser.close();
    done();
}

void run();
