// login.ts - trade the token of the address for a cookie, once; called before the first question.

/**
 * Ends in success also where the page was loaded again: then the cookie is there already. Does not end where the browser came
 * by the file that it was started with: it goes on to the page's plain address. A reload of that one comes from our own
 * site, which the server lets in, whatever site the browser came from at first.
 */
export async function login(): Promise<void> {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (token === null) {
        return;
    }
    const answer = await fetch("login", { method: "POST", body: token });
    if (!answer.ok) {
        throw new Error("The server does not know this address any more: open the trace again.");
    }
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete("token");
    const hash = rest.toString();
    if (location.search !== "") {
        location.replace(hash === "" ? location.pathname : `${location.pathname}#${hash}`);
        return await new Promise(() => undefined);
    }
    history.replaceState(null, "", hash === "" ? location.pathname : `#${hash}`);
}

const PING_MS = 60_000;

/** The server ends when nobody has asked anything for some time; a page that is only looked at says that it is there. */
export function stay(): void {
    window.setInterval(() => void fetch("ping").catch(() => undefined), PING_MS);
}
