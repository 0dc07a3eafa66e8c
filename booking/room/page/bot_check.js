// The operator's bot check, if there is one: Turnstile, hCaptcha and reCAPTCHA are drawn by the same call.

import {inTime, isDark, loadScript} from "./outside.js";
import {button, h} from "./ui.js";
import {say, spoken} from "./words.js";

export class BotCheck {
  constructor(widgetUrl, siteKey) {
    Object.assign(this, {widgetUrl, siteKey, proof: "", widget: null, drawn: null});
  }

  // Whether the check is on the page and has not been done.
  get waits() {
    return this.widget !== null && !this.proof;
  }

  // Draw the check into `place`; what it gives is in `proof`.
  async show(place) {
    this.#remove();
    this.place = place;
    if (!this.widgetUrl) {
      place.replaceChildren(h("p", {className: "warn"}, say("join.no-check")));
      return;
    }
    place.replaceChildren(h("p", {role: "status"}, say("check.loading")));
    try {
      await loadScript(this.widgetUrl);
      const widget = globalThis.turnstile ?? globalThis.hcaptcha ?? globalThis.grecaptcha;
      // reCAPTCHA's script loads another one, and can draw only then.
      if (!widget.render) await inTime(new Promise((resolve) => { widget.ready(resolve); }));
      if (this.place === place) this.#draw(widget, place);
    } catch {
      if (this.place === place) this.#fail(place);
    }
  }

  #draw(widget, place) {
    const inside = h("div");
    const note = h("p", {className: "danger", role: "alert"});
    place.replaceChildren(inside, note);
    this.drawn = widget.render(inside, {
      sitekey: this.siteKey, theme: isDark() ? "dark" : "light", language: spoken(), hl: spoken(),
      callback: (proof) => {
        this.proof = proof ?? "";
        note.textContent = "";
      },
      "expired-callback": () => {
        this.#again();
        note.textContent = say("check.expired");
      },
      "error-callback": () => {
        if (this.place === place) this.#fail(place);
        return true;
      },
    });
    this.widget = widget;
  }

  #fail(place) {
    this.#remove();
    place.replaceChildren(h("p", {className: "warn"}, say("check.failed")), button(say("again"), () => this.show(place), {id: "check-again"}));
  }

  #again() {
    this.proof = "";
    this.widget?.reset?.(this.drawn);
  }

  #remove() {
    this.widget?.remove?.(this.drawn);
    Object.assign(this, {proof: "", widget: null, drawn: null});
  }

  // A proof is good once.
  take() {
    const {proof} = this;
    if (proof) this.#again();
    return proof;
  }
}
