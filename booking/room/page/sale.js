// One sale: hold, check out, pay. Every step is written down with its key before it is sent, and sent with that key until
// somebody has decided; so reloads, double clicks and lost answers do nothing twice.

import {NoAnswer, Refusal, untilDecided} from "./net.js";
import {secret} from "./memory.js";
import {pause} from "./time.js";

const LIVE = new Set(["CREATED", "SENT", "UNKNOWN", "ACTION_REQUIRED"]);
const DONE = new Set(["CONFIRMED", "PARTLY_REFUNDED", "REFUNDED"]);
const ENDED = new Set(["CANCELLED", "EXPIRED"]);

export class Sale {
  // `memory` as `saleOf`; `turn()` gives the headers of an admission; `changed()` is called after each news.
  constructor(line, eventId, account, memory, {turn, changed}) {
    Object.assign(this, {line, eventId, account, memory, turn, changed});
    this.kept = memory.read();
    this.hold = null;
    this.order = null;
    this.tickets = null;
    this.trouble = null;
    this.note = null;
    this.busy = false;
    this.following = null;
    this.ending = new AbortController();
  }

  // ---------------------------------------------------------------- what it is in

  get step() {
    const {order, charge} = this;
    if (order && DONE.has(order.status)) return "tickets";
    if (charge && LIVE.has(charge.status)) return charge.status === "ACTION_REQUIRED" ? "action" : "unknown";
    if (order && !ENDED.has(order.status)) return order.status === "RECONCILING" ? "unknown" : "pay";
    return this.hold && this.hold.status === "HELD" ? "hold" : "";
  }

  // The newest payment of the order.
  get charge() {
    return this.order?.operations.filter((one) => one.kind === "authorize").at(-1) ?? null;
  }

  get endsAt() {
    return this.order ? this.order.pay_until : this.hold?.expires_at;
  }

  // ---------------------------------------------------------------- going on after a reload

  // Ends what was under way, then reads how it stands.
  async resume() {
    if (this.kept.intent) await this.#perform().catch((error) => this.#refused(error));
    else await this.refresh();
    this.#follow();
  }

  // Read the order or the hold as it is now.
  async refresh() {
    const {order_id: orderId, hold_id: holdId} = this.kept;
    if (!orderId && !holdId) return;
    const asOf = this.kept;
    const path = orderId ? `/v1/orders/${orderId}` : `/v1/holds/${holdId}`;
    try {
      const {body} = await this.#untilDecided(() => this.account.call(this.line, "GET", path));
      if (this.kept !== asOf) return; // a step was taken meanwhile: this is of what was
      if (orderId) await this.#takeOrder(body);
      else this.#takeHold(body);
    } catch (error) {
      if (this.isLeft) return;
      if (!(error instanceof Refusal)) throw error;
      if (this.kept !== asOf) return;
      this.forget(error.status === 401 ? "signed-out" : "gone");
    }
    this.changed();
  }

  // ---------------------------------------------------------------- steps

  async holdPlaces(body, prices) {
    await this.#begin({name: "hold", method: "POST", path: `/v1/events/${this.eventId}/holds`, body, prices});
  }

  async release() {
    const {order, hold} = this;
    if (order && !ENDED.has(order.status) && !DONE.has(order.status)) {
      const body = {reason: "given back by the buyer", keep_seats: false};
      await this.#begin({name: "cancel", method: "POST", path: `/v1/orders/${order.order_id}/cancel`, body});
    } else if (hold) {
      await this.#begin({name: "release", method: "DELETE", path: `/v1/holds/${hold.hold_id}`});
    }
  }

  async checkOut(lines, places, shownTotal) {
    const body = {lines, places, shown_total_minor: shownTotal};
    await this.#begin({name: "checkout", method: "POST", path: `/v1/holds/${this.hold.hold_id}/checkout`, body});
  }

  async pay(provider, method) {
    const left = this.order.amount_minor - (this.order.paid_minor ?? 0);
    const body = {kind: "authorize", provider, amount_minor: left, payment_method: method};
    await this.#begin({name: "pay", method: "POST", path: `/v1/orders/${this.order.order_id}/payments`, body});
  }

  async withdraw() {
    const path = `/v1/payments/${this.charge.operation_id}/withdraw`;
    await this.#begin({name: "withdraw", method: "POST", path});
  }

  // With what Stripe's code lets the bank ask about this operation; empty when nobody is asked any more, or nobody knows just now.
  async pageSecret(id) {
    try {
      const {body} = await this.account.call(this.line, "GET", `/v1/payments/${id}/page-secret`);
      return body.secret;
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof NoAnswer)) throw error;
      this.trouble = error;
      this.changed();
      return "";
    }
  }

  // The prices that the hold has locked are those of its moment.
  setPrices(prices) {
    this.#keep({prices, has_prices: true});
    this.changed();
  }

  // Begin anew: what was is over.
  forget(note = null) {
    this.stop();
    // What the box office can find, when nobody can read the order any more.
    this.lostOrder = note === "signed-out" ? this.kept.number : undefined;
    Object.assign(this, {hold: null, order: null, tickets: null, note, kept: {}});
    if (!this.isLeft) this.memory.write(null);
    this.changed();
  }

  // Another tab goes on with it: nothing is sent again from here, and what is answered late is not written down.
  leave() {
    this.ending.abort();
    this.stop();
  }

  get isLeft() {
    return this.ending.signal.aborted;
  }

  stop() {
    this.following?.abort();
    this.following = null;
    this.waking?.abort();
  }

  // ---------------------------------------------------------------- sending

  // One step at a time: a second click while one is under way, or not decided, is dropped.
  async #begin(step) {
    if (this.busy || this.kept.intent || this.isLeft) return;
    this.note = null;
    this.#keep({intent: {...step, key: secret()}});
    await this.#perform().catch((error) => this.#refused(error));
    this.#follow();
  }

  async #perform() {
    const {intent} = this.kept;
    this.busy = true;
    this.changed();
    try {
      let admitted = false;
      const {body} = await this.#untilDecided(async () => {
        const send = (headers) => this.account.call(this.line, intent.method, intent.path, {key: intent.key, body: intent.body, headers});
        try {
          return await send(intent.name === "hold" ? this.turn() : {});
        } catch (error) {
          // A token that ended on the way, or none yet after a reload: once more with the newest one, under the same key.
          if (admitted || !(error instanceof Refusal) || !["admission-refused", "admission-required"].includes(error.code)) throw error;
          admitted = true;
          await this.turn.refresh?.();
          return send(this.turn());
        }
      });
      await this.#take(intent, body);
    } finally {
      this.busy = false;
      this.changed();
    }
  }

  async #take(intent, body) {
    if (intent.name === "hold") {
      this.#keep({hold_id: body.hold_id, prices: intent.prices, has_prices: false, intent: null});
      this.#takeHold(body);
    } else if (intent.name === "release") {
      this.forget("released");
    } else if (intent.name === "cancel") {
      this.forget("released");
    } else {
      const order = body.order ?? body;
      this.#keep({order_id: order.order_id, number: order.number, intent: null});
      await this.#takeOrder(order);
    }
  }

  // Somebody said no: nothing was done. What stands is read anew, because it may have changed.
  async #refused(error) {
    if (this.isLeft) return;
    this.#keep({intent: null});
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) {
      this.forget("signed-out");
      return;
    }
    await this.refresh();
    this.note = error;
    this.changed();
  }

  #takeHold(hold) {
    this.hold = hold;
    if (hold.status === "HELD") return;
    if (hold.order_id) this.#keep({order_id: hold.order_id});
    else this.forget(hold.status === "EXPIRED" ? "expired" : "gone");
  }

  async #takeOrder(order) {
    this.order = order;
    if (!ENDED.has(order.status)) {
      if (DONE.has(order.status)) await this.#readTickets();
      return;
    }
    if (order.operations.some((one) => LIVE.has(one.status))) return;
    const took = order.operations.some((one) => one.status === "SUCCEEDED" && one.kind === "authorize");
    this.forget(took ? "given-back" : order.status === "EXPIRED" ? "expired" : "released");
  }

  async #readTickets() {
    const path = `/v1/orders/${this.order.order_id}/tickets`;
    const {body} = await this.#untilDecided(() => this.account.call(this.line, "GET", path));
    this.tickets = body;
  }

  #untilDecided(call) {
    return untilDecided(call, {
      signal: this.ending.signal,
      onTrouble: (error) => {
        if (error === this.trouble) return;
        this.trouble = error;
        this.changed();
      },
    });
  }

  #keep(change) {
    this.kept = {...this.kept, ...change};
    if (!this.isLeft) this.memory.write(this.kept);
  }

  // ---------------------------------------------------------------- watching what is not decided

  get #isOpen() {
    const step = this.step;
    if (step === "tickets") return !this.tickets?.complete;
    return step !== "";
  }

  // Looks at what goes on by itself; each step wakes it, because the next one may be due sooner.
  async #follow() {
    this.waking?.abort();
    if (this.following || this.isLeft || !this.#isOpen) return;
    const {signal} = (this.following = new AbortController());
    for (let looks = 0; !signal.aborted && this.#isOpen; looks++) {
      const waits = this.step === "hold" || this.step === "pay";
      this.waking = new AbortController();
      const woken = this.waking.signal;
      await pause(waits ? 10000 : Math.min(5000, 400 + 300 * looks), woken);
      if (woken.aborted) looks = -1;
      else if (!signal.aborted && !this.busy) await this.refresh();
    }
    if (this.following?.signal === signal) this.following = null;
  }
}
