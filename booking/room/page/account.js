// The fan's account in this browser: opened, renewed before its token ends and after, moved, forgotten. All tabs share it.
// Each secret is written down before it is sent, and sent again with the same successor until somebody has decided.

import {account as kept, forgetAll, moving, secret} from "./memory.js";
import {NoAnswer, Refusal, untilDecided} from "./net.js";
import {pause} from "./time.js";

const SECRET = /^[\w-]{32,128}$/;
const TOKEN = /^tq\d+\.[\w-]+\.[\w-]+$/;
// A new token that is refused is not renewed again before this.
const RENEWED_FOR_MS = 600000;

// What a key is, without what copying put around it; empty when it is none.
export function keyIn(text) {
  const key = text.replace(/[^\w.-]/g, "");
  return SECRET.test(key) || TOKEN.test(key) ? key : "";
}

// One tab at a time; where a browser has no locks, tabs agree by what is written down.
const alone = (act) => (navigator.locks ? navigator.locks.request("taquilla.account", act) : pause(100).then(act));

export class Account {
  constructor(line, clock) {
    Object.assign(this, {line, clock, asking: null});
  }

  get token() {
    return kept.read()?.access_token;
  }

  // Open one, unless there is one already.
  async open(onTrouble) {
    await untilDecided(() => alone(async () => {
      if (this.token) return;
      const opening = kept.read()?.secret ?? secret();
      kept.write({secret: opening});
      try {
        const {body} = await this.line.call("POST", "/v1/renewals", {body: {secret: opening}});
        this.#take(body, opening, kept.read()?.secret === opening);
      } catch (error) {
        if (error.code === "not-signed-in" && kept.read()?.secret === opening) kept.write(null);
        throw error;
      }
    }), {onTrouble});
  }

  // A call in the account's name: when its token has ended, once more with a new one.
  async call(line, method, path, options = {}) {
    const {token} = this;
    try {
      return await line.call(method, path, {...options, token});
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      // Refused though it is new: whoever refuses knows less than who gave it, and may know more later.
      if (this.token === token && token === this.renewed && Math.abs(Date.now() - this.renewedAt) < RENEWED_FOR_MS) throw new NoAnswer(error.message);
      if (!(await this.renew(token))) throw error;
    }
    try {
      return await line.call(method, path, {...options, token: this.token});
    } catch (error) {
      throw isSignedOut(error) && kept.read()?.secret ? new NoAnswer(error.message) : error;
    }
  }

  // Renew in good time; a failure is tried again later, the token is good until then.
  keep() {
    const {renew_at: due, secret: known, access_token: token} = kept.read() ?? {};
    if (!known || this.asking || !(this.clock.secondsUntil(due) <= 0)) return;
    this.asking = this.renew(token).catch(() => pause(20000)).finally(() => { this.asking = null; });
  }

  // A new token in place of `stale`, whoever of the tabs gets it. False: the account cannot be renewed any more.
  renew(stale) {
    return alone(async () => {
      const now = kept.read();
      if (now?.access_token !== stale) return Boolean(now?.access_token);
      if (!now?.secret) return false;
      kept.write({...now, next_secret: now.next_secret ?? secret()});
      if (!navigator.locks) await pause(50);
      const {secret: old, next_secret: next} = kept.read() ?? {};
      if (!old || !next) return Boolean(this.token);
      try {
        const {body} = await this.line.call("POST", "/v1/renewals/next", {body: {secret: old, next_secret: next}});
        if (this.#take(body, next, [old, next].includes(kept.read()?.secret))) Object.assign(this, {renewed: this.token, renewedAt: Date.now()});
        return Boolean(this.token);
      } catch (error) {
        // Only who keeps the accounts can end one: a 401 of anything in between is no decision.
        if (error.code !== "not-signed-in" && error.code !== "invalid-request") throw error;
        if (kept.read()?.secret !== old) return Boolean(this.token);
        if (error.problem.fields?.[0]?.pointer === "/next_secret") {
          kept.write({...now, next_secret: undefined});
          throw new NoAnswer(error.message);
        }
        // Ended: what token there is lives for its rest.
        kept.write({...now, secret: undefined, next_secret: undefined});
        return false;
      }
    });
  }

  // A key with which another device may go on, once and soon. Without a secret there is only the token itself.
  async spare(onTrouble) {
    if (kept.read()?.next_secret) await untilDecided(() => this.renew(this.token), {onTrouble});
    const key = secret();
    return untilDecided(() => alone(async () => {
      const {secret: mine, access_token: token} = kept.read() ?? {};
      if (!mine) return token ?? "";
      await this.line.call("POST", "/v1/renewals/spare", {body: {secret: mine, spare_secret: key}});
      return key;
    }), {onTrouble});
  }

  // Go on with an account that began on another device, in place of the one that is here. False: the key is not good.
  async moveHere(key, onTrouble) {
    const begun = moving.read();
    const next = begun?.key === key ? begun.next : secret();
    if (SECRET.test(key)) moving.write({key, next});
    try {
      return await untilDecided(() => alone(() => (SECRET.test(key) ? this.#useKey(key, next) : this.#useToken(key))), {onTrouble});
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (moving.read()?.next === next) moving.write(null);
      return false;
    }
  }

  async #useKey(key, next) {
    // Another tab has done it, or everything was forgotten.
    if (moving.read()?.next !== next) return kept.read()?.secret === next;
    const {body} = await this.line.call("POST", "/v1/renewals/next", {body: {secret: key, next_secret: next}});
    const before = secrets();
    if (!this.#take(body, next, moving.read()?.next === next)) return false;
    moving.write(null);
    await this.#end(before.filter((one) => one !== next));
    return true;
  }

  async #useToken(key) {
    const {body} = await this.line.call("GET", "/v1/me", {token: key});
    if (body.role !== "fan") return false;
    const before = secrets();
    kept.write({access_token: key});
    await this.#end(before);
    return true;
  }

  // Nothing of it stays in this browser, and its secret is good for nothing. An answer that is still on its way is dropped.
  async forget() {
    const ends = this.#end(secrets());
    forgetAll();
    // Once more after a tab that is at it just now: what it wrote in the same moment goes, too.
    await Promise.race([alone(() => { this.#end(secrets()); forgetAll(); }), pause(5000)]);
    await ends;
  }

  // Nothing can be done in its name any more. One with a secret can be renewed: it stays.
  lose() {
    if (!kept.read()?.secret) kept.write(null);
  }

  #end(those) {
    const end = (one) => this.line.call("POST", "/v1/renewals/end", {body: {secret: one}, patienceMs: 5000, outlives: true}).catch(() => {});
    return Promise.all(those.map(end));
  }

  // Keep what was answered, if it `isWanted`: the account may be forgotten, or another one here, since the question.
  #take(body, good, isWanted) {
    const {account_id, access_token, access_expires_at: ends, server_time: told} = body;
    if (!isWanted) {
      if (kept.read()?.account_id !== account_id) this.#end([good]);
      return false;
    }
    const half = (Date.parse(told) + Date.parse(ends)) / 2;
    kept.write({account_id, access_token, secret: good, renew_at: new Date(half).toISOString()});
    return true;
  }
}

const isSignedOut = ({code}) => code === "not-signed-in" || code === "token-expired";

// All that could renew what is here, or what is on its way here.
function secrets() {
  const {secret: good, next_secret: next} = kept.read() ?? {};
  return [good, next, moving.read()?.next].filter(Boolean);
}
