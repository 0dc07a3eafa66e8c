// Choosing: the map, the list that says the same, the best seats together, and places without numbers.

import {SeatMap} from "./map.js";
import {FREE} from "./plan.js";
import {button, h, named, setText, tell} from "./ui.js";
import {lostOrder, refusalWords, rowWords, seatWords} from "./view_queue.js";
import {countdown, money, say} from "./words.js";

const MOST = 6;
const REDRAW_MS = 300;

export class PickView {
  constructor(app) {
    this.app = app;
    this.picked = new Set();
    this.places = new Map();
    this.turn = h("p", {className: "turn", role: "timer"});
    this.note = h("div", {className: "note", role: "alert"});
    this.stale = h("p", {className: "warn", hidden: true}, say("map.stale"));
    this.body = h("div", {}, h("p", {role: "status"}, say("map.loading")));
    this.basket = h("section", {className: "basket", tabindex: "-1", "aria-label": say("pick.chosen")});
    this.code = new CodeField(app, () => this.codeChanged());
    this.element = h("section", {}, h("h1", {}, say("pick.title")), this.turn, this.note, this.stale, this.body, this.code.element, this.basket,
      app.notice && button(say("wait.leave"), () => app.leaveQueue(), {id: "leave"}));
  }

  // With a code the limit is the booking system's to know.
  get most() {
    return this.app.accessCode.read() ? MOST : Math.min(MOST, this.app.event.max_per_account ?? MOST);
  }

  // Called once the plan is there.
  build() {
    const {app} = this;
    const {plan} = app.seats;
    const parts = [];
    if (plan.count) {
      this.map = new SeatMap(plan, {states: () => app.seats.states, picked: this.picked, pick: (seat) => this.toggle(seat)});
      this.list = new SeatList(this);
      this.list.element.hidden = true;
      parts.push(this.best = this.#best(), this.#views(), this.#floors(), this.map.element, this.#legend(), this.list.element);
    }
    parts.push(this.#standing());
    this.body.replaceChildren(...parts.flat().filter(Boolean));
    this.showBasket();
  }

  destroy() {
    clearTimeout(this.redrawing);
    this.map?.destroy();
  }

  update() {
    const {app} = this;
    if (!this.map && !this.list && app.seats?.plan && !this.built) {
      this.built = true;
      this.build();
    }
    const ends = app.status?.slot_ends_at;
    setText(this.turn, ends ? say("pick.turn", {left: countdown(app.roomClock.secondsUntil(ends))}) : "");
    this.stale.hidden = !app.isStale;
    this.#showNote();
    this.go?.toggleAttribute("data-busy", app.sale.busy);
  }

  // Seats changed: those that somebody else took leave the choice. `seats` null: all may have.
  seatsChanged(seats) {
    // A busy sale changes seats many times a second; a phone need not draw 60,000 of them each time.
    this.redrawing ??= setTimeout(() => {
      this.redrawing = null;
      this.map?.draw();
    }, REDRAW_MS);
    const lost = [...this.picked].filter((seat) => this.app.seats.states[seat] !== FREE);
    if (lost.length && !this.app.sale.busy) {
      for (const seat of lost) this.picked.delete(seat);
      tell(say("pick.lost", {seats: lost.map((seat) => seatWords(this.app.seats.plan.nameOf(seat))).join("; ")}), {urgent: true});
      this.showBasket();
    }
    this.list?.changed(seats);
  }

  toggle(seat) {
    const {seats} = this.app;
    const name = seatWords(seats.plan.nameOf(seat));
    if (this.picked.delete(seat)) tell(say("pick.removed", {seat: name}));
    else if (seats.states[seat] !== FREE) tell(say("pick.taken", {seat: name}), {urgent: true});
    else if (this.count >= this.most) this.#limitMet();
    else {
      this.picked.add(seat);
      tell(say("pick.added", {seat: name}));
    }
    this.map?.draw();
    this.list?.changed(null);
    this.showBasket();
  }

  #limitMet() {
    tell(say("pick.most", {count: this.most}), {urgent: true});
    this.code.element.open = true;
  }

  // Another code, another limit.
  codeChanged() {
    const best = this.best && this.#best();
    if (best) {
      this.best.replaceWith(best);
      this.best = best;
    }
    if (this.built) this.showBasket();
  }

  get count() {
    return this.picked.size + [...this.places.values()].reduce((sum, one) => sum + one, 0);
  }

  // ---------------------------------------------------------------- parts

  #best() {
    const {event} = this.app;
    const count = h("select", {id: "best-count"}, Array.from({length: this.most}, (_, index) => h("option", {value: index + 1}, say("best.seats", {count: index + 1}))));
    count.value = String(Math.min(2, this.most));
    const used = new Set(this.app.seats.plan.seats.category_no);
    const category = h("select", {id: "best-category"}, h("option", {value: ""}, say("best.any")),
      event.categories.filter((one) => used.has(one.category_no)).map((one) => h("option", {value: one.category_no}, `${one.name} · ${this.#from(one.category_no)}`)));
    const find = button(say("best.go"), () => {
      const wish = {count: Number(count.value)};
      if (category.value !== "") wish.categories = [Number(category.value)];
      return this.app.hold({best_available: wish});
    }, {className: "main", id: "best-go"});
    return h("section", {className: "best panel"}, h("h2", {}, say("best.title")),
      h("div", {className: "row"}, h("label", {htmlFor: "best-count", className: "hidden"}, say("best.count")), count,
        h("label", {htmlFor: "best-category", className: "hidden"}, say("best.category")), category, find));
  }

  #from(category) {
    const amounts = this.app.event.prices.filter((one) => one.category_no === category).map((one) => one.amount_minor);
    return amounts.length ? money(Math.max(...amounts), this.app.event.currency) : "";
  }

  #views() {
    const choose = (name) => {
      this.map.element.hidden = name !== "map";
      this.list.element.hidden = name !== "list";
      if (name === "list") this.list.changed(null);
    };
    const one = (name, checked) => h("label", {className: "tab"}, h("input", {type: "radio", name: "view", id: `view-${name}`, checked, onchange: () => choose(name)}), say(`view.${name}`));
    return h("fieldset", {className: "tabs"}, h("legend", {className: "hidden"}, say("view.title")), one("map", true), one("list", false));
  }

  #floors() {
    const {floors} = this.app.seats.plan;
    if (floors.length < 2) return null;
    const choice = h("select", {id: "floor", onchange: () => this.map.showFloor(Number(choice.value))}, floors.map((floor, index) => h("option", {value: index}, floor.name)));
    return h("p", {}, h("label", {htmlFor: "floor"}, say("map.floor")), choice);
  }

  #legend() {
    const {event} = this.app;
    const used = new Set(this.app.seats.plan.seats.category_no);
    return h("ul", {className: "legend"}, event.categories.filter((one) => used.has(one.category_no)).map((one) => {
      const spot = h("span", {className: "spot"});
      spot.style.backgroundColor = one.color;
      return h("li", {}, spot, named(one.name), ` ${this.#from(one.category_no)}`);
    }), h("li", {}, h("span", {className: "spot taken"}), say("map.taken")), h("li", {}, h("span", {className: "spot mine"}), say("map.mine")));
  }

  #standing() {
    const tiers = this.app.event.tiers ?? [];
    if (!tiers.length) return null;
    this.left = new Map();
    return h("section", {className: "panel"}, h("h2", {}, say("tiers.title")), h("ul", {className: "plain"}, tiers.map((tier) => {
      const amount = h("output", {}, "0");
      const step = (by) => {
        const now = (this.places.get(tier.tier_id) ?? 0) + by;
        if (now < 0) return;
        if (by > 0 && this.count >= this.most) return this.#limitMet();
        this.places.set(tier.tier_id, now);
        setText(amount, String(now));
        this.showBasket();
      };
      const left = h("span", {className: "quiet"});
      this.left.set(tier.tier_id, left);
      setText(left, say("tiers.left", {count: tier.available}));
      return h("li", {className: "row"}, h("span", {className: "grow"}, named(tier.name), ` ${this.#from(tier.category_no)} `, left),
        button("−", () => step(-1), {className: "round", "aria-label": say("tiers.fewer", {tier: tier.name})}), amount,
        button("+", () => step(1), {className: "round", "aria-label": say("tiers.more", {tier: tier.name})}));
    })));
  }

  tiersChanged(tiers) {
    for (const one of tiers) {
      const place = this.left?.get(one.tier_id);
      if (place) setText(place, say("tiers.left", {count: one.available}));
    }
  }

  // Drawn anew; whoever is in it with the keyboard stays where he is.
  showBasket() {
    const buttons = () => [...this.basket.querySelectorAll("button")];
    const at = buttons().indexOf(document.activeElement);
    this.#fillBasket();
    if (at >= 0) (buttons()[Math.min(at, buttons().length - 1)] ?? this.basket).focus({preventScroll: true});
  }

  #fillBasket() {
    const {event, seats} = this.app;
    const items = [...this.picked].map((seat) => {
      const name = seatWords(seats.plan.nameOf(seat));
      return h("li", {className: "row"}, h("span", {className: "grow"}, `${name} · ${this.#from(seats.plan.seats.category_no[seat])}`),
        button("✕", () => this.toggle(seat), {className: "round", "aria-label": say("pick.remove", {seat: name})}));
    });
    for (const [tier, count] of this.places) {
      if (count) items.push(h("li", {}, named(event.tiers.find((one) => one.tier_id === tier).name), ` × ${count}`));
    }
    this.basket.classList.toggle("empty", !items.length);
    if (!items.length) {
      this.basket.replaceChildren(h("p", {className: "quiet"}, say("pick.none", {count: this.most})));
      return;
    }
    this.go = button(say("pick.hold", {count: this.count}), () => this.app.hold(this.#wish()), {className: "main", id: "hold"});
    this.basket.replaceChildren(h("ul", {className: "plain"}, items), this.go);
  }

  #wish() {
    const wish = {};
    if (this.picked.size) wish.seats = [...this.picked];
    const tiers = [...this.places].filter(([, count]) => count).map(([tier, quantity]) => ({tier_id: tier, quantity}));
    if (tiers.length) wish.tiers = tiers;
    return wish;
  }

  // Why the last hold was refused; which seats are gone, and what could be had instead.
  #showNote() {
    const {note} = this.app.sale;
    if (note === this.shown) return;
    this.shown = note;
    if (!note) return void this.note.replaceChildren();
    if (typeof note === "string") return void this.note.replaceChildren(h("p", {}, say(`note.${note}`), lostOrder(this.app)));
    if (note.code === "access-code-refused") this.code.refuse();
    if (note.code === "account-limit") this.code.element.open = true;
    const {seats = [], offer = []} = note.problem;
    for (const seat of seats) this.picked.delete(seat.seat_no);
    this.showBasket();
    this.note.replaceChildren(h("p", {}, refusalWords(note)), seats.length ? h("p", {}, seats.map(seatWords).join("; ")) : "",
      offer.length ? button(say("pick.offer", {seats: offer.map(seatWords).join("; ")}), () => this.app.hold({seats: offer.map((one) => one.seat_no)}), {id: "offer"}) : "");
  }
}

// A code that raises the limit of tickets: kept for the event, sent with each hold, judged by the booking system.
class CodeField {
  constructor(app, changed) {
    Object.assign(this, {app, changed});
    this.element = h("details", {id: "access", open: Boolean(app.accessCode.read())});
    this.draw();
  }

  refuse() {
    this.app.accessCode.write("");
    this.draw();
    this.element.open = true;
    this.changed();
  }

  draw() {
    const code = this.app.accessCode.read();
    const field = h("input", {id: "access-code", maxlength: "60", autocomplete: "off", autocapitalize: "none", spellcheck: "false"});
    const use = (text) => {
      this.app.accessCode.write(text);
      this.draw();
      this.changed();
      (this.element.querySelector("input") ?? this.element.querySelector("button")).focus();
    };
    const go = button(say("access.use"), () => field.value.trim() && use(field.value.trim()), {id: "access-use"});
    const enter = h("form", {className: "row", onsubmit: (event) => { event.preventDefault(); go.click(); }}, h("label", {htmlFor: "access-code"}, say("access.code")), field, go);
    const kept = h("p", {className: "row"}, h("span", {className: "grow", id: "access-kept"}, say("access.on", {code, count: MOST})), button(say("access.drop"), () => use(""), {id: "access-drop"}));
    this.element.replaceChildren(h("summary", {}, say("access.open")), h("p", {className: "quiet"}, say("access.words")), code ? kept : enter);
  }
}

// The same seats for those who do not use the map: section, row, then the free seats of the row.
class SeatList {
  constructor(view) {
    this.view = view;
    const {plan} = view.app.seats;
    this.section = h("select", {id: "list-section", onchange: () => this.#fillRows()}, plan.sections.map((one, index) => (plan.rowsOf(index).length ? h("option", {value: index}, one.name) : null)));
    this.row = h("select", {id: "list-row", onchange: () => this.#fillSeats()});
    this.seats = h("ul", {className: "seats", "aria-label": say("list.seats")});
    this.element = h("section", {className: "panel", id: "seat-list"},
      h("div", {className: "choices"}, h("label", {htmlFor: "list-section"}, say("list.section")), this.section, h("label", {htmlFor: "list-row"}, say("list.row")), this.row), this.seats);
    this.#fillRows();
  }

  #fillRows() {
    const rows = this.view.app.seats.plan.rowsOf(Number(this.section.value));
    this.rows = rows;
    this.row.replaceChildren(...rows.map((one, index) => h("option", {value: index}, this.#rowName(one))));
    this.#fillSeats();
  }

  // Rows stand under the word for them; tables and booths among them say what they are.
  #rowName({kind, label, first_seat: first}) {
    const name = kind === "booth" && !label ? this.view.app.seats.plan.seats.number[first] : label;
    return kind ? rowWords(name, kind) : name;
  }

  #fillSeats() {
    const row = this.rows[Number(this.row.value)];
    const {app} = this.view;
    const items = [];
    for (let seat = row?.first_seat ?? 0; row && seat < row.first_seat + row.seat_count; seat++) {
      if (app.seats.states[seat] !== FREE && !this.view.picked.has(seat)) continue;
      const box = h("input", {type: "checkbox", id: `seat-${seat}`, checked: this.view.picked.has(seat), onchange: () => this.view.toggle(seat)});
      const category = app.event.categories.find((one) => one.category_no === app.seats.plan.seats.category_no[seat]);
      items.push(h("li", {}, h("label", {}, box, h("span", {}, say("seat.number", {number: app.seats.plan.seats.number[seat]}), h("br"), h("small", {className: "quiet"}, named(category?.name ?? ""))))));
    }
    this.seats.replaceChildren(...(items.length ? items : [h("li", {}, say("list.none"))]));
  }

  // Redrawn when seats of the row changed, without losing the focus.
  changed(seats) {
    const row = this.rows[Number(this.row.value)];
    if (this.element.hidden || !row) return;
    if (seats && !seats.some((seat) => seat >= row.first_seat && seat < row.first_seat + row.seat_count)) return;
    const focused = document.activeElement?.id;
    this.#fillSeats();
    if (focused?.startsWith("seat-")) document.getElementById(focused)?.focus();
  }
}
