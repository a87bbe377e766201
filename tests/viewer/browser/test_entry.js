// test_entry.js - the browser is started with a file, which leads to the page; a page of another site cannot lead there.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const { describedTrace, folder, launch, nanoscope } = require("./viewer");

/** `nanoscope open` on a desktop whose browser only notes what it is started with. */
async function open(trace) {
    const opened = path.join(folder, "opened");
    const script = `#!/bin/sh\necho "$*" >'${opened}.part' && mv '${opened}.part' '${opened}'\n`;
    fs.writeFileSync(path.join(folder, "xdg-open"), script, { mode: 0o755 });
    const server = spawn(nanoscope, ["open", "--idle", "60", trace], {
        env: {
            ...process.env,
            DISPLAY: ":7",
            PATH: `${folder}:${process.env.PATH}`,
            TMPDIR: folder,
            XDG_RUNTIME_DIR: "",
        },
        stdio: ["ignore", "ignore", "inherit"],
    });
    for (let i = 0; i < 200 && !fs.existsSync(opened); i++) {
        await new Promise((go) => setTimeout(go, 50));
    }
    return { server, address: fs.readFileSync(opened, "utf8").trim() };
}

/** A server of another site, with a page that leads to an address: of this machine, too, but another site by its name. */
async function lure(address) {
    const site = http.createServer((request, response) => {
        response.setHeader("Content-Type", "text/html");
        response.end(`<meta http-equiv="refresh" content="0;url=${address}">`);
    });
    await new Promise((go) => site.listen(0, "127.0.0.1", go));
    return { site, url: `http://127.0.0.1:${site.address().port}/` };
}

async function run() {
    const { server, address } = await open(describedTrace("tests/viewer/browser/traces/known.txt"));
    const browser = await launch();
    const file = address.replace("file://", "");
    const text = fs.readFileSync(file, "utf8");
    const target = /url=([^"]*)"/.exec(text)[1];
    const base = target.slice(0, target.indexOf("?"));
    const page = await browser.newPage();

    await test("the file leads to the page, which logs in", async () => {
        assert.match(address, /^file:\/\/\/[^ ?#]*\.html$/);
        await page.goto(address);
        await page.waitForSelector(".page", { timeout: 15000 });
    });
    await test("the page's address has neither token nor key", async () => {
        assert.equal(page.url().split("#")[0], base);
        assert.doesNotMatch(page.url(), /token|open=/);
    });
    await test("it can be loaded again", async () => {
        const answer = await page.reload();
        assert.ok([200, 304].includes(answer.status()), String(answer.status()));
        await page.waitForSelector(".page", { timeout: 15000 });
    });
    await test("the file is removed then", () => {
        assert.equal(fs.existsSync(file), false);
    });
    await test("a page of another site does not get there, also with the cookie in the browser", async () => {
        const { site, url } = await lure(base);
        const other = await browser.newPage();
        const refused = other.waitForResponse((answer) => answer.url() === base);
        await other.goto(url);
        assert.equal((await refused).status(), 403);
        await other.close();
        site.close();
    });

    await browser.close();
    server.kill("SIGINT");
    done();
}

void run();
