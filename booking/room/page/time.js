// Time by the servers' clocks, and pauses that also end in a background tab.

const policy = globalThis.trustedTypes?.createPolicy("page", {createScriptURL: (url) => url});
// Addresses that become scripts: our own files, and the widget that the operator named.
export const scriptUrl = (url) => (policy ? policy.createScriptURL(url) : url);

const waking = new Map();
let count = 0;
let ticker = null;
try {
  ticker = new Worker(scriptUrl(new URL("./ticker.js", import.meta.url).href));
  ticker.onmessage = ({data}) => waking.get(data)?.();
  ticker.onerror = () => { ticker = null; };
} catch {
  ticker = null;
}

// Wait; ends early, without an error, when `signal` is aborted.
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const id = ++count;
    const done = () => {
      waking.delete(id);
      clearTimeout(fallback);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const fallback = setTimeout(done, ms + (ticker ? 1000 : 0));
    waking.set(id, done);
    ticker?.postMessage([id, ms]);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}

// A server's clock: what it said, and how long ago by a clock that nobody can set.
export class ServerClock {
  #told = Date.now();
  #at = performance.now();

  learn(instant) {
    const told = Date.parse(instant ?? "");
    if (Number.isNaN(told)) return;
    this.#told = told;
    this.#at = performance.now();
  }

  now() {
    return this.#told + performance.now() - this.#at;
  }

  secondsUntil(instant) {
    return (Date.parse(instant) - this.now()) / 1000;
  }
}
