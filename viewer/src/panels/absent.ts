// absent.ts - panels that a page without a server cannot have: why, and where they are.
import { h } from "../base/dom";
import type { Panel } from "./host";

export class AbsentPanel implements Panel {
    readonly topics = [];
    readonly unscoped = true;
    readonly element: HTMLElement;

    constructor(
        readonly id: string,
        readonly title: string,
        why: string,
    ) {
        this.element = h("section", {}, h("p", { class: "hint" }, why));
    }

    update(): void {
        // It says the same of every trace.
    }
}

export const NO_SOURCE =
    "Source files are not a part of a trace, and this page has no server that could read them. Where they are: nanoscope open TRACE, with --source DIR if they lie elsewhere.";
export const NO_SQL =
    "This page reads the trace without a server and has no database. Where the trace is: nanoscope open TRACE, or nanoscope query.";
