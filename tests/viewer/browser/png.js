// png.js - reads a screenshot: PNG with 8 bits a channel, RGB or RGBA, not interlaced, as browsers write it.
"use strict";
const zlib = require("node:zlib");

function paeth(a, b, c) {
    const p = a + b - c;
    const pa = Math.abs(p - a);
    const pb = Math.abs(p - b);
    const pc = Math.abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

function unfilter(data, width, height, bytes) {
    const stride = width * bytes;
    const out = Buffer.alloc(stride * height);
    for (let y = 0; y < height; y++) {
        const filter = data[y * (stride + 1)];
        for (let i = 0; i < stride; i++) {
            const at = y * stride + i;
            const left = i >= bytes ? out[at - bytes] : 0;
            const up = y > 0 ? out[at - stride] : 0;
            const corner = i >= bytes && y > 0 ? out[at - stride - bytes] : 0;
            const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
            out[at] = data[y * (stride + 1) + 1 + i] + guess;
        }
    }
    return out;
}

class Picture {
    constructor(file) {
        const parts = [];
        for (let at = 8; at < file.length; ) {
            const length = file.readUInt32BE(at);
            const kind = file.toString("latin1", at + 4, at + 8);
            const body = file.subarray(at + 8, at + 8 + length);
            if (kind === "IHDR") {
                this.width = body.readUInt32BE(0);
                this.height = body.readUInt32BE(4);
                this.bytes = { 2: 3, 6: 4 }[body[9]];
                if (body[8] !== 8 || this.bytes === undefined || body[12] !== 0) {
                    throw new Error("a PNG of another kind");
                }
            } else if (kind === "IDAT") {
                parts.push(body);
            }
            at += length + 12;
        }
        const data = zlib.inflateSync(Buffer.concat(parts));
        this.pixels = unfilter(data, this.width, this.height, this.bytes);
    }

    /** The colour at a place, "rgb(1 2 3)" as CSS has it. */
    at(x, y) {
        const from = (Math.round(y) * this.width + Math.round(x)) * this.bytes;
        return `rgb(${[...this.pixels.subarray(from, from + 3)].join(" ")})`;
    }

    /** How many colours there are in a rectangle. */
    colours(x, y, width, height) {
        const seen = new Set();
        for (let row = y; row < y + height; row++) {
            for (let column = x; column < x + width; column++) {
                seen.add(this.at(column, row));
            }
        }
        return seen.size;
    }
}

module.exports = { Picture };
