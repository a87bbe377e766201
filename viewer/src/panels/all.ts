// all.ts - which panels a trace has.
import type { State } from "../data/state";
import { ComparePanel } from "./compare";
import { AbsentPanel, NO_SOURCE, NO_SQL } from "./absent";
import { DetailsPanel } from "./details";
import { FlamePanel } from "./flame";
import { HistogramPanel } from "./histogram";
import type { Panel } from "./host";
import { LeftOutPanel } from "./leftout";
import { MarksPanel } from "./marks";
import { SandwichPanel } from "./sandwich";
import { SharesPanel } from "./shares";
import { SourcePanel } from "./source";
import { SqlPanel } from "./sql";
import { TopPanel } from "./top";

/** Those that have something to tell of this trace, or may have when it has grown, in the order of their tabs and keys. */
export function makePanels(app: State): Panel[] {
    const { can, growing, threads, left_out } = app.trace;
    const panels: Panel[] = [
        new TopPanel(app),
        new FlamePanel(app),
        new DetailsPanel(app),
        new SandwichPanel(app),
        new HistogramPanel(app),
        new SharesPanel(app),
        new ComparePanel(app),
    ];
    if (growing || threads.some((thread) => thread.marks > 0)) {
        panels.push(new MarksPanel(app));
    }
    if (growing || left_out.functions > 0 || left_out.all) {
        panels.push(new LeftOutPanel(app));
    }
    if (can.includes("source")) {
        panels.push(new SourcePanel(app));
    } else if (app.engine.isLocal === true) {
        panels.push(new AbsentPanel("source", "Source", NO_SOURCE));
    }
    if (can.includes("sql")) {
        panels.push(new SqlPanel(app));
    } else if (app.engine.isLocal === true) {
        panels.push(new AbsentPanel("sql", "SQL", NO_SQL));
    }
    return panels;
}
