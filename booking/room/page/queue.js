// The place in the queue: join, wait for news, take the turn over, leave. Spoken to the room alone, which goes on when
// booking is down.

import {LONGEST_PAUSE_S, NoAnswer, Refusal, backOffMs, isUndecided, online, untilDecided} from "./net.js";

const WAIT_S = 25;

export class Queue {
  // `tell` hears: {status} of each answer, {away: error} when there is none, {refused: error} when the place is gone.
  constructor(line, eventId, account, session, tell) {
    this.line = line;
    this.path = `/v1/events/${eventId}/queue`;
    this.account = account;
    this.session = session;
    this.tell = tell;
    this.status = null;
    this.tag = "";
    this.retryAfterS = 0;
    this.running = null;
    this.wakes = null;
  }

  async join(code, proof, onTrouble) {
    const body = {};
    if (code) body.registration_code = code;
    if (proof) body.bot_proof = proof;
    const answer = await untilDecided(() => this.#call("POST", this.path, {body}), {onTrouble});
    this.#take(answer);
  }

  // The place that the account has: true, or false when it has none.
  async find(onTrouble) {
    try {
      this.#take(await untilDecided(() => this.#call("GET", this.path), {onTrouble}));
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === "place-not-found") return false;
      throw error;
    }
  }

  async takeOver() {
    this.#take(await untilDecided(() => this.#call("POST", `${this.path}/take-over`)));
    this.wake();
  }

  async leave() {
    this.stop();
    await untilDecided(() => this.#call("DELETE", this.path));
  }

  // Ask now: after a purchase, when the page is looked at again, when a token was refused.
  wake() {
    this.wakes?.abort();
  }

  async refresh() {
    this.#take(await untilDecided(() => this.#call("GET", this.path)));
  }

  start() {
    if (this.running) return;
    this.running = new AbortController();
    this.#run(this.running.signal);
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  async #run(signal) {
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      try {
        const headers = this.tag ? {"If-None-Match": this.tag} : {};
        // After a silence the first question waits for nothing: whether the room is back is news enough.
        const wait = this.tag && !failures ? `?wait=${WAIT_S}` : "";
        const answer = await this.#call("GET", this.path + wait, {headers, signal, patienceMs: (WAIT_S + 15) * 1000});
        if (signal.aborted) return;
        failures = 0;
        this.#take(answer);
      } catch (error) {
        if (signal.aborted) return;
        if (!isUndecided(error)) {
          this.tell({refused: error});
          return;
        }
        failures += 1;
        if (failures > 1 || error instanceof NoAnswer) this.tell({away: error});
        // Who is told to ask seldom is one of very many: they do not come all together when the room is back.
        await this.#rest(backOffMs(error, failures, Math.max(LONGEST_PAUSE_S, this.retryAfterS)), signal);
        continue;
      }
      // As often as the room allows: only it knows whom it has kept for news, who may then come again at once.
      await this.#rest(Math.max(250, 1000 * this.retryAfterS - (performance.now() - began)), signal);
    }
  }

  // Until it is time, somebody looks, or the network is back.
  async #rest(ms, signal) {
    this.wakes = new AbortController();
    const stop = () => this.wakes.abort();
    signal.addEventListener("abort", stop);
    await online(ms, this.wakes.signal);
    signal.removeEventListener("abort", stop);
  }

  #take(answer) {
    this.retryAfterS = Number(answer.headers.get("Retry-After")) || 5;
    if (answer.status === 304) {
      this.tell({status: this.status});
      return;
    }
    this.tag = answer.headers.get("ETag") ?? "";
    this.status = answer.body;
    this.tell({status: this.status});
  }

  #call(method, path, more = {}) {
    const headers = {"Admission-Session": this.session, ...more.headers};
    return this.account.call(this.line, method, path, {...more, headers});
  }
}
