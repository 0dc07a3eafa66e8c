// Stripe's own card field, and the bank's questions that only Stripe's code can ask. What is typed goes from Stripe's frame to
// Stripe: this page gets a name for the card, and sends that alone.

import {inTime, loadScript} from "./outside.js";
import {button, h, setText, tell} from "./ui.js";
import {say, spoken} from "./words.js";

const STRIPE_JS = "https://js.stripe.com/v3/";
const ANSWERS_WITHIN_MS = 30000;
let stripe = null;

async function stripeOf(key) {
  if (!globalThis.Stripe) await loadScript(STRIPE_JS);
  stripe ??= globalThis.Stripe(key, {locale: spoken()});
  return stripe;
}

// Card, button and what went wrong. `pay(method)` gets the name of the card; nothing is charged before it is called.
export class CardForm {
  constructor(key, words, pay) {
    Object.assign(this, {key, pay});
    this.place = h("div", {id: "card-field", className: "field"});
    this.problem = h("p", {className: "danger", role: "alert", id: "card-problem"});
    this.state = h("div", {id: "card-state"});
    this.go = button(words, () => this.#send(), {className: "main", id: "pay"});
    this.element = h("form", {onsubmit: (event) => { event.preventDefault(); this.go.click(); }},
      h("p", {}, say("pay.card")), this.place, this.state, this.problem, h("p", {className: "quiet"}, say("stripe.by")), this.go);
    this.draw();
  }

  async draw() {
    this.go.hidden = this.place.hidden = true;
    this.state.replaceChildren(h("p", {role: "status"}, say("stripe.loading")));
    try {
      const ours = await stripeOf(this.key);
      if (this.ended) return;
      const looks = getComputedStyle(document.documentElement);
      const color = (name) => looks.getPropertyValue(name).trim();
      this.card = ours.elements().create("card", {
        hidePostalCode: true,
        style: {base: {color: color("--text"), iconColor: color("--muted"), fontSize: "16px", "::placeholder": {color: color("--muted")}}, invalid: {color: color("--danger")}},
      });
      this.card.on("change", ({error}) => setText(this.problem, error?.message ?? ""));
      this.place.hidden = false;
      await inTime(new Promise((resolve) => {
        this.card.on("ready", resolve);
        this.card.mount(this.place);
      }));
      this.state.replaceChildren();
      this.go.hidden = false;
    } catch (error) {
      console.warn(error);
      if (!this.ended) this.#fail();
    }
  }

  #fail() {
    this.#drop();
    this.place.hidden = true;
    this.state.replaceChildren(h("p", {className: "warn"}, say("stripe.failed")), button(say("again"), () => this.draw(), {id: "card-again"}));
  }

  async #send() {
    setText(this.problem, "");
    let answer;
    try {
      answer = await inTime(stripe.createPaymentMethod({type: "card", card: this.card}), ANSWERS_WITHIN_MS);
    } catch {
      answer = {};
    }
    if (this.ended) return;
    const method = answer.paymentMethod?.id;
    if (method) return this.pay(method);
    const words = answer.error?.message ?? say("stripe.no-answer");
    setText(this.problem, words);
    tell(words, {urgent: true});
  }

  #drop() {
    this.card?.destroy();
    this.card = null;
  }

  destroy() {
    this.ended = true;
    this.#drop();
  }
}

// Let the bank ask, on this page. Returns what went wrong, in words; empty when the buyer has answered.
export async function bankAsks(key, secret) {
  try {
    const {error} = await (await stripeOf(key)).handleNextAction({clientSecret: secret});
    return error ? error.message ?? say("stripe.no-answer") : "";
  } catch (error) {
    console.warn(error);
    return say("stripe.failed");
  }
}
