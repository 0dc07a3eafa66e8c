// What people see of their sale: seats held, paying, not knowing, tickets.

import {button, h, named, setText, tell} from "./ui.js";
import {CardForm, bankAsks} from "./view_card.js";
import {qrCode, refusalWords, seatWords} from "./view_queue.js";
import {countdown, instant, knows, money, say} from "./words.js";

// How the sandbox's cards behave.
const CARDS = ["card-approve", "card-decline", "card-no-funds", "card-3ds", "card-slow", "card-answer-lost", "card-hang"];
const WEB = /^https?:\/\//;

function noteWords(note) {
  if (!note) return "";
  return typeof note === "string" ? say(`note.${note}`) : refusalWords(note);
}

// The deadline of seats, by the server's clock. When it has passed, the sale is read anew.
function deadline(app) {
  const element = h("p", {className: "turn", role: "timer"});
  let warned = false, asked = false;
  return {
    element,
    update() {
      const ends = app.sale.endsAt;
      if (!ends) return setText(element, "");
      const left = app.bookingClock.secondsUntil(ends);
      setText(element, say("hold.left", {left: countdown(left)}));
      element.classList.toggle("soon", left < 60);
      if (left < 60 && !warned) {
        warned = true;
        tell(say("hold.soon"), {urgent: true});
      }
      if (left < -1 && !asked && !app.sale.busy) {
        asked = true;
        app.sale.refresh();
      }
    },
  };
}

// ---------------------------------------------------------------- seats held

export function holding(app) {
  const {sale, event} = app;
  const {hold} = sale;
  const time = deadline(app);
  const note = h("p", {className: "danger", role: "alert"});
  const total = h("strong", {id: "total"});
  const lines = [
    ...hold.seats.map((seat) => ({seat, name: seatWords(seat), category: app.categoryOf(seat.seat_no)})),
    ...(hold.places ?? []).flatMap((tier) => Array.from({length: tier.quantity}, () => ({tier, name: tier.name, category: tier.category_no}))),
  ];
  lines.forEach((line, index) => {
    line.choice = h("select", {"aria-label": say("hold.type", {seat: line.name}), id: `type-${index}`, onchange: () => update()});
  });
  const priceOf = (line) => sale.kept.prices.find((one) => one.category_no === line.category && one.price_type_id === Number(line.choice.value))?.amount_minor ?? 0;
  const sum = () => lines.reduce((amount, line) => amount + priceOf(line), 0);
  let filled = null;
  const fill = () => {
    if (filled === sale.kept.prices) return;
    filled = sale.kept.prices;
    for (const line of lines) {
      const before = line.choice.value;
      line.choice.replaceChildren(...event.price_types.flatMap((type) => {
        const price = filled.find((one) => one.category_no === line.category && one.price_type_id === type.price_type_id);
        return price ? [h("option", {value: type.price_type_id}, `${type.name} · ${money(price.amount_minor, event.currency)}`)] : [];
      }));
      if (before) line.choice.value = before;
    }
  };
  const update = () => {
    fill();
    time.update();
    setText(total, money(sum(), event.currency));
    setText(note, noteWords(sale.note));
  };
  const next = button(say("hold.next"), () => sale.checkOut(
    lines.filter((one) => one.seat).map((one) => ({seat_no: one.seat.seat_no, price_type_id: Number(one.choice.value)})),
    placesOf(lines.filter((one) => one.tier)), sum()), {className: "main", id: "checkout"});
  const element = h("section", {className: "panel"}, h("h1", {}, say("hold.title")), time.element, note,
    h("ul", {className: "plain", id: "held"}, lines.map((line) => h("li", {className: "row"}, h("span", {className: "grow"}, line.name), line.choice))),
    h("p", {className: "total"}, say("hold.total"), " ", total),
    h("div", {className: "row"}, next, button(say("hold.release"), () => sale.release(), {id: "release"})));
  return {element, update};
}

// Places of one tier and price type are one line.
function placesOf(lines) {
  const counted = new Map();
  for (const {tier, choice} of lines) {
    const key = `${tier.tier_id} ${choice.value}`;
    const one = counted.get(key) ?? {tier_id: tier.tier_id, price_type_id: Number(choice.value), quantity: 0};
    one.quantity += 1;
    counted.set(key, one);
  }
  return [...counted.values()];
}

// ---------------------------------------------------------------- paying

function orderLines(app) {
  const {order} = app.sale;
  return h("ul", {className: "plain"},
    order.lines.map((line) => h("li", {className: "row"}, h("span", {className: "grow"}, seatWords(line.seat)), named(line.price_type_name), " ", money(line.amount_minor, order.currency))),
    (order.places ?? []).map((line) => h("li", {className: "row"}, h("span", {className: "grow"}, named(line.tier_name), ` × ${line.quantity}`), named(line.price_type_name), " ", money(line.amount_minor, order.currency))));
}

export function paying(app) {
  const {sale} = app;
  const {order} = sale;
  const time = deadline(app);
  const note = h("p", {className: "danger", role: "alert", id: "pay-note"});
  const amount = money(order.amount_minor - (order.paid_minor ?? 0), order.currency);
  const words = say("pay.go", {amount});
  const stripe = app.stripeKey ? new CardForm(app.stripeKey, words, (method) => sale.pay(app.payments, method)) : null;
  const form = stripe?.element ?? (app.payments ? sandboxForm(app, words) : h("p", {className: "warn"}, say("pay.none")));
  const element = h("section", {className: "panel"}, h("h1", {}, say("pay.title", {amount})), time.element,
    h("p", {className: "quiet"}, say("pay.order", {number: order.number})), orderLines(app), note, form,
    button(say("hold.release"), () => sale.release(), {id: "release"}));
  return {
    element,
    destroy: () => stripe?.destroy(),
    update() {
      time.update();
      const charge = sale.charge;
      const declined = charge?.status === "DECLINED" ? declineWords(charge.decline_code) : "";
      setText(note, noteWords(sale.note) || declined);
    },
  };
}

function sandboxForm(app, words) {
  const card = h("select", {id: "card"}, CARDS.map((name) => h("option", {value: name}, say(`card.${name}`))));
  const pay = button(words, () => app.sale.pay(app.payments, card.value), {className: "main", id: "pay"});
  return h("form", {onsubmit: (event) => { event.preventDefault(); pay.click(); }},
    h("p", {className: "choices"}, h("label", {htmlFor: "card"}, say("pay.card")), card), h("p", {className: "quiet"}, say("pay.sandbox")), pay);
}

function declineWords(code) {
  return knows(`declined.${code}`) ? say(`declined.${code}`) : say("declined.other");
}

// On its way, or without an answer: nobody knows, and the page says so.
export function unknown(app) {
  const {sale} = app;
  const began = performance.now();
  const words = h("p", {className: "lead", id: "unknown-words"});
  const element = h("section", {className: "panel"}, h("h1", {id: "unknown-title"}), words, h("div", {className: "busy", "aria-hidden": "true"}),
    h("p", {className: "quiet"}, say("pay.order", {number: sale.order.number})), orderLines(app));
  return {
    element,
    update() {
      const unclear = sale.charge?.status === "UNKNOWN" || sale.trouble || performance.now() - began > 8000;
      setText(element.firstChild, say(unclear ? "unknown.title" : "running.title"));
      setText(words, say(unclear ? "unknown.words" : "running.words"));
      if (unclear) tell(say("unknown.words"), {urgent: true});
    },
  };
}

// The bank asks the buyer: on a page of its own beside this one, or on this one by Stripe's code. This one goes on by itself.
export function action(app) {
  const {sale} = app;
  const {next_action: asked, operation_id: id} = sale.charge;
  const address = asked.replace(/^redirect:/, "");
  const time = deadline(app);
  const problem = h("p", {className: "danger", role: "alert", id: "bank-problem"});
  const here = asked.startsWith("stripe:") && app.stripeKey;
  const answer = async () => {
    const secret = await sale.pageSecret(id);
    setText(problem, secret ? await bankAsks(app.stripeKey, secret) : "");
    if (secret) await sale.pageSecret(id); // the provider is asked at once, also when the order is gone by now
    await sale.refresh();
  };
  const link = here ? button(say("action.answer"), answer, {className: "main", id: "bank"})
    : WEB.test(address) ? h("a", {className: "button main", href: address, target: "_blank", rel: "noopener noreferrer", id: "bank"}, say("action.go"))
    : h("p", {className: "warn"}, say("action.none"));
  const element = h("section", {className: "panel"}, h("h1", {}, say("action.title")), time.element, h("p", {}, say(here ? "action.here" : "action.words")), problem,
    h("div", {className: "row"}, link, button(say("action.withdraw"), () => sale.withdraw(), {id: "withdraw"})));
  return {element, update: () => time.update()};
}

// ---------------------------------------------------------------- tickets

export function tickets(app) {
  const {sale, event} = app;
  const {order} = sale;
  const list = h("ul", {className: "tickets"});
  const wait = h("p", {role: "status"});
  const done = button(say("tickets.done"), () => confirm(say("tickets.forget")) && app.finish(), {id: "done"});
  const element = h("section", {}, h("h1", {}, say("tickets.title")), h("p", {className: "lead"}, say("tickets.words")), wait, list,
    h("p", {className: "quiet"}, say("pay.order", {number: order.number})),
    h("div", {className: "row no-print"}, button(say("tickets.print"), () => print(), {className: "main"}), h("a", {className: "button", href: "/"}, say("over.events")), done));
  let shown = -1;
  return {
    element,
    update() {
      const {tickets: found} = sale;
      setText(wait, found?.complete ? "" : say("tickets.wait"));
      done.hidden = !found?.complete;
      if (!found || found.tickets.length === shown) return;
      shown = found.tickets.length;
      list.replaceChildren(...found.tickets.map((ticket) => h("li", {className: "ticket"},
        qrCode(ticket.code, "M"),
        h("div", {}, h("h2", {}, named(event.name)), h("p", {}, named(event.venue_name)), h("p", {}, instant(event.starts_at, event.zone)),
          h("p", {className: "seat"}, ticket.tier_id === undefined ? seatWords(ticket.seat) : named(ticket.seat.section)),
          h("p", {className: "quiet"}, named(ticket.price_type_name), " · ", money(ticket.amount_minor, ticket.currency)), h("p", {}, h("code", {className: "code"}, ticket.code)),
          ticket.status === "VOID" && h("p", {className: "danger"}, say("tickets.void"))))));
      if (found.complete) tell(say("tickets.ready", {count: shown}), {urgent: true});
    },
  };
}
