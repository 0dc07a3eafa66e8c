// Calls: no cookies, nothing kept on the way, answers told apart by their code alone.

import {pause} from "./time.js";

const ANSWERS_WITHIN_MS = 20000;
export const LONGEST_PAUSE_S = 20;
// Worth asking again with the same key: nobody has said yes or no.
const UNDECIDED = new Set(["busy", "authority-away", "rate-limited", "key-in-progress", "internal"]);

// The server's "no": `code` says why.
export class Refusal extends Error {
  constructor(status, problem, retryAfterS) {
    super(problem.detail || problem.title || String(status));
    this.status = status;
    this.code = problem.code || "internal";
    this.problem = problem;
    this.retryAfterS = retryAfterS;
  }

  get reason() {
    return this.problem.fields?.[0]?.message ?? "";
  }
}

// No answer: whether anything was done is not known.
export class NoAnswer extends Error {}

export class Line {
  // `base` is the address of a service, empty for the page's own host.
  constructor(base, clock) {
    this.base = base;
    this.clock = clock;
  }

  // One call; `outlives`: also when the page is left meanwhile. Returns {status, body, headers}; throws Refusal or NoAnswer.
  async call(method, path, {token, body, key, headers = {}, signal, patienceMs = ANSWERS_WITHIN_MS, raw = false, outlives = false} = {}) {
    const sent = {...headers};
    if (token) sent.Authorization = `Bearer ${token}`;
    if (key) sent["Idempotency-Key"] = key;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const late = AbortSignal.timeout(patienceMs);
    const ends = signal ? anyOf([signal, late]) : late;
    let answer, content;
    try {
      answer = await fetch(this.base + path, {
        method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), signal: ends,
        credentials: "omit", cache: raw ? "no-cache" : "no-store", redirect: "error", keepalive: outlives, referrerPolicy: "no-referrer",
      });
      if (raw && answer.ok) content = await answer.arrayBuffer();
      else content = await answer.text();
    } catch (error) {
      throw new NoAnswer(String(error?.message ?? error));
    }
    return this.#read(answer, content, raw);
  }

  #read(answer, content, raw) {
    if (raw && answer.ok) return {status: answer.status, body: content, headers: answer.headers};
    let body = null;
    try {
      body = content ? JSON.parse(content) : null;
    } catch {
      throw new NoAnswer("the answer is broken");
    }
    if (answer.ok || answer.status === 304) {
      this.clock.learn(body?.server_time);
      return {status: answer.status, body, headers: answer.headers};
    }
    const told = Number(answer.headers.get("Retry-After"));
    throw new Refusal(answer.status, body ?? {}, told > 0 ? told : 0);
  }
}

function anyOf(signals) {
  const both = new AbortController();
  for (const one of signals) {
    if (one.aborted) both.abort(one.reason);
    one.addEventListener("abort", () => both.abort(one.reason), {signal: both.signal});
  }
  return both.signal;
}

export const isUndecided = (error) => error instanceof NoAnswer || (error instanceof Refusal && UNDECIDED.has(error.code));

// How long to wait before the try of this number: what the server said, else longer each time; never all at once.
export function backOffMs(error, number, longestS = LONGEST_PAUSE_S) {
  const said = error instanceof Refusal ? error.retryAfterS : 0;
  const seconds = said || Math.min(longestS, 2 ** number / 2);
  return 1000 * seconds * (0.8 + 0.4 * Math.random());
}

// Call until somebody has decided. `onTrouble(error)` hears of each try without an answer, `onTrouble(null)` of the end.
export async function untilDecided(call, {onTrouble = () => {}, signal} = {}) {
  for (let number = 1; ; number++) {
    try {
      const answer = await call();
      onTrouble(null);
      return answer;
    } catch (error) {
      const asksAgain = () => isUndecided(error) && !signal?.aborted;
      if (asksAgain()) {
        onTrouble(error);
        await online(backOffMs(error, number), signal);
      }
      if (!asksAgain()) {
        onTrouble(null);
        throw error;
      }
    }
  }
}

// Pause, but go on at once when the network is back.
export async function online(ms, signal) {
  const back = new AbortController();
  const wake = () => back.abort();
  addEventListener("online", wake);
  await pause(ms, signal ? anyOf([signal, back.signal]) : back.signal);
  back.abort(); // nothing of it stays with a signal that lives on
  removeEventListener("online", wake);
}
