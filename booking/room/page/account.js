// The fan's account in this browser: opened, renewed before its token ends and after, moved, forgotten. All tabs share it.
// Each secret is written down before it is sent, and sent again with the same successor until somebody has decided.

import {account as kept, forgetAll, secret} from "./memory.js";
import {Refusal, untilDecided} from "./net.js";
import {pause} from "./time.js";

const SECRET = /^[A-Za-z0-9_-]{32,128}$/;

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
        this.#take(body, opening);
      } catch (error) {
        if (error instanceof Refusal && error.status === 401) kept.write(null);
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
      if (!(error instanceof Refusal) || error.status !== 401 || !(await this.renew(token))) throw error;
      return line.call(method, path, {...options, token: this.token});
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
        this.#take(body, next);
        return true;
      } catch (error) {
        if (!(error instanceof Refusal) || (error.status !== 401 && error.status !== 422)) throw error;
        if (kept.read()?.secret !== old) return Boolean(this.token);
        // Ended: what token there is lives for its rest.
        kept.write({...now, secret: undefined, next_secret: undefined});
        return false;
      }
    });
  }

  // A key with which another device may go on, once and soon. Without a secret there is only the token itself.
  async spare() {
    if (kept.read()?.next_secret) await untilDecided(() => this.renew(this.token));
    const {secret: mine, access_token: token} = kept.read() ?? {};
    if (!mine) return token ?? "";
    const key = secret();
    await untilDecided(() => this.line.call("POST", "/v1/renewals/spare", {body: {secret: mine, spare_secret: key}}));
    return key;
  }

  // Go on with an account that began on another device. False: the key is not good.
  async moveHere(key, onTrouble) {
    try {
      if (SECRET.test(key)) {
        const next = secret();
        const {body} = await untilDecided(() => this.line.call("POST", "/v1/renewals/next", {body: {secret: key, next_secret: next}}), {onTrouble});
        this.#take(body, next);
        return true;
      }
      const {body} = await untilDecided(() => this.line.call("GET", "/v1/me", {token: key}), {onTrouble});
      if (body.role === "fan") kept.write({access_token: key});
      return body.role === "fan";
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  // Nothing of it stays in this browser, and its secret is good for nothing.
  async forget() {
    const {secret: mine} = kept.read() ?? {};
    forgetAll();
    if (mine) await this.line.call("POST", "/v1/renewals/end", {body: {secret: mine}, patienceMs: 5000, outlives: true}).catch(() => {});
  }

  lose() {
    kept.write(null);
  }

  #take(body, good) {
    const {account_id, access_token, access_expires_at: ends, server_time: told} = body;
    const half = (Date.parse(told) + Date.parse(ends)) / 2;
    kept.write({account_id, access_token, secret: good, renew_at: new Date(half).toISOString()});
  }
}
