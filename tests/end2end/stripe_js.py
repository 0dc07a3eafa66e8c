"""A stand-in for Stripe.js: its calls as documented, its frames and its API at its own hosts, and a bank that asks."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from tests.end2end.tls_site import Answer
from tests.payments_lab.processes import Lab

HOSTS = ("js.stripe.com", "api.stripe.com", "hooks.stripe.com")
SCRIPT = "js.stripe.com/v3/"
METHODS = "api.stripe.com/v1/payment_methods"
GOOD, DECLINED, ASKS = "4242424242424242", "4000000000000341", "4000002500003155"

_STRIPE_JS = """
globalThis.Stripe = (key, {locale}) => {
  const framed = (place, url) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = url;
    frame.onload = () => resolve(frame);
    place.append(frame);
  });
  const said = (frame, ask) => new Promise((resolve) => {
    addEventListener("message", (event) => { if (event.source === frame.contentWindow) resolve(event.data); });
    frame.contentWindow.postMessage(ask, "*");
  });
  const ask = async (path, body) => {
    const sent = {method: "POST", body: new URLSearchParams({key, ...body})};
    return (await fetch(`https://api.stripe.com/v1/${path}`, sent)).json();
  };
  const card = () => {
    const heard = {};
    let frame = null;
    return {
      on: (name, act) => { heard[name] = act; },
      async mount(place) {
        frame = await framed(place, "https://js.stripe.com/card.html");
        heard.ready?.();
      },
      destroy: () => frame?.remove(),
      number: () => said(frame, "number"),
    };
  };
  return {
    elements: () => ({create: (kind) => { if (kind === "card") return card(); throw new Error(kind); }}),
    async createPaymentMethod({type, card: element}) {
      const {id, message} = await ask("payment_methods", {type, number: await element.number(), locale});
      return id ? {paymentMethod: {id}} : {error: {message}};
    },
    async handleNextAction({clientSecret}) {
      const frame = await framed(document.body, "https://hooks.stripe.com/3ds.html");
      frame.id = "bank-frame";
      Object.assign(frame.style, {position: "fixed", inset: "0", zIndex: 99});
      const passes = await said(frame, "ask");
      frame.remove();
      const {message} = await ask("answers", {secret: clientSecret, passes});
      return message ? {error: {message}} : {paymentIntent: {status: "requires_capture"}};
    },
  };
};
"""
_CARD = """<!doctype html><title>Card</title><input id="number" aria-label="Card number"><script>
addEventListener("message", (event) => event.source.postMessage(document.getElementById("number").value, "*"));
</script>"""
_BANK = """<!doctype html><title>Bank</title><button id="yes">Yes</button><button id="no">No</button><script>
addEventListener("message", (event) => {
  for (const [id, passes] of [["yes", true], ["no", false]])
    document.getElementById(id).onclick = () => event.source.postMessage(passes, "*");
});
</script>"""


def stand_in(lab: Lab) -> dict[str, Answer]:
    """What the hosts of Stripe answer; money and cards are the referee's."""

    def method(body: bytes) -> str:
        asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if len(asked.get("number", "")) < 16:
            return json.dumps({"message": "Your card number is incomplete."})
        card = {"card[number]": asked["number"], "card[exp_month]": "12", "card[exp_year]": "2030", "card[cvc]": "123"}
        return json.dumps({"id": lab.ask("POST", "/v1/payment_methods", {"type": "card", **card})["id"]})

    def answered(body: bytes) -> str:
        asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        intent = asked["secret"].partition("_secret_")[0]
        sent = {"client_secret": asked["secret"], "success": asked["passes"]}
        lab.ask("POST", f"/v1/payment_intents/{intent}/_authenticate", sent)
        return json.dumps({} if asked["passes"] == "true" else {"message": "We are unable to authenticate you."})

    return {
        SCRIPT: _STRIPE_JS, "js.stripe.com/card.html": _CARD, "hooks.stripe.com/3ds.html": _BANK,
        METHODS: method, "api.stripe.com/v1/answers": answered,
    }  # fmt: skip
