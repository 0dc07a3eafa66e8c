// The operator's bot check, if there is one: Turnstile, hCaptcha and reCAPTCHA are drawn by the same call.

import {scriptUrl} from "./time.js";
import {h} from "./ui.js";
import {say} from "./words.js";

export class BotCheck {
  constructor(widgetUrl, siteKey) {
    Object.assign(this, {widgetUrl, siteKey, proof: "", loading: null});
  }

  // Draw the check into `place`; what it gives is in `proof`.
  async show(place) {
    if (!this.widgetUrl) {
      place.replaceChildren(h("p", {className: "warn"}, say("join.no-check")));
      return;
    }
    this.loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = scriptUrl(this.widgetUrl);
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    try {
      await this.loading;
      const widget = globalThis.turnstile ?? globalThis.hcaptcha ?? globalThis.grecaptcha;
      const keep = (proof) => { this.proof = proof ?? ""; };
      this.widget = widget;
      this.drawn = widget.render(place, {sitekey: this.siteKey, callback: keep, "expired-callback": () => keep("")});
    } catch {
      this.loading = null;
      place.replaceChildren(h("p", {className: "warn"}, say("join.no-check")));
    }
  }

  // A proof is good once.
  take() {
    const {proof} = this;
    this.proof = "";
    if (proof) this.widget?.reset?.(this.drawn);
    return proof;
  }
}
