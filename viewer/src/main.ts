// main.ts - where the page starts.
import { login } from "./login";

interface Trace {
    name: string;
    calls: number;
    threads: unknown[];
}

async function start(): Promise<string> {
    await login();
    const answer = await fetch("api/trace");
    if (!answer.ok) {
        throw new Error(`The trace cannot be read (${answer.status}).`);
    }
    const trace = (await answer.json()) as Trace;
    document.title = `${trace.name} - nanoscope`;
    return `${trace.name}: ${trace.calls} calls in ${trace.threads.length} threads`;
}

const status = document.getElementById("status");
start().then(
    (text) => status?.replaceChildren(text),
    (error: unknown) => status?.replaceChildren(String(error)),
);
