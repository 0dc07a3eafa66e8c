// What people see before their turn: the events, joining, waiting, and the turn that is elsewhere.

import {Refusal} from "./net.js";
import {qrModules} from "./qr.js";
import {button, h, named, setText, svg, tell} from "./ui.js";
import {clock, countdown, instant, knows, range, say} from "./words.js";

// A view is {element, update(app)}; the same one stays while its name stays, so that focus and typing do.

export function eventList(app) {
  const items = app.events.filter((one) => one.status !== "CANCELLED").map((one) => h("li", {},
    h("a", {href: `/events/${one.event_id}`}, named(one.name)),
    h("p", {className: "quiet"}, named(one.venue_name), " · ", instant(one.starts_at, one.zone)),
    one.status === "PAUSED" && h("p", {className: "warn"}, say("event.paused")),
  ));
  // Whoever has this browser has the tickets: on one that others use, it can be told to forget.
  const forget = button(say("forget.go"), () => confirm(say("forget.sure")) && app.forgetMe(), {id: "forget"});
  return {
    element: h("section", {}, h("h1", {}, say("events.title")), items.length ? h("ul", {className: "cards"}, items) : h("p", {}, say("events.none")),
      h("p", {}, forget)),
    update() { forget.hidden = !app.account.token; },
  };
}

export function message(title, text, ...more) {
  return {element: h("section", {className: "panel"}, h("h1", {}, title), h("p", {}, text), more)};
}

// ---------------------------------------------------------------- joining

export function join(app) {
  const {notice} = app;
  const code = h("input", {id: "code", value: app.joinCode, autocomplete: "off", maxlength: "64", spellcheck: "false", "aria-describedby": "join-problem"});
  const problem = h("p", {id: "join-problem", className: "danger", role: "alert"});
  const opens = h("p", {className: "lead"});
  const check = h("div", {id: "bot-check"});
  const go = button(say("join.go"), () => (notice.bot_check && app.botCheck.waits ? app.joinFirst("check.first") : app.join(code.value.trim())), {className: "main"});
  const form = h("form", {onsubmit: (event) => { event.preventDefault(); go.click(); }},
    notice.registration_required && h("p", {}, h("label", {htmlFor: "code"}, say("join.code")), code),
    check, go);
  const element = h("section", {className: "panel"},
    h("h1", {}, say("join.title")), opens,
    h("ul", {className: "rules"},
      h("li", {}, say(`rules.${notice.queueing}`)), h("li", {}, say("rules.one-place")), h("li", {}, say("rules.reload"))),
    problem, form, moveHere(app));
  if (notice.bot_check) app.botCheck.show(check);
  return {
    element,
    update() {
      setText(opens, openingWords(app));
      const {joinProblem: why} = app;
      setText(problem, (typeof why === "string" ? say(why) : why ? refusalWords(why) : "") + lostOrder(app));
    },
  };
}

// The order of an account that is no longer known here.
export function lostOrder({sale}) {
  return sale?.lostOrder ? ` ${say("pay.lost", {number: sale.lostOrder})}` : "";
}

function openingWords(app) {
  const {notice, event} = app;
  if (notice.availability === "sold-out") return say("wait.sold-out");
  if (notice.phase === "closed") return say("wait.closed");
  if (notice.phase === "open") return say("join.open");
  const left = app.roomClock.secondsUntil(notice.opens_at);
  return say("join.early", {when: instant(notice.opens_at, event?.zone), left: countdown(left)});
}

// ---------------------------------------------------------------- waiting

export function waiting(app) {
  const position = h("p", {className: "figure", id: "position"});
  const explanation = h("p", {className: "lead", id: "explanation"});
  const estimate = h("p", {id: "estimate"});
  const heard = h("p", {className: "quiet"});
  const element = h("section", {className: "panel"},
    h("h1", {}, say("wait.title")), position, explanation, estimate, heard,
    h("p", {className: "quiet"}, say("wait.stay")),
    h("div", {className: "row"}, button(say("wait.leave"), () => app.leaveQueue()), moveAway(app)));
  let told = 0, state, figures;
  return {
    element,
    update() {
      const {status} = app;
      const first = status.ahead === 0 && status.phase === "open";
      setText(position, status.ahead === undefined || status.ahead === null ? "" : first ? say("wait.next") : say("wait.ahead", {count: status.ahead}));
      setText(explanation, stateWords(app, countdown(app.roomClock.secondsUntil(status.opens_at))));
      setText(estimate, estimateWords(status));
      setText(heard, say("wait.heard", {when: clock(status.server_time), waiting: status.waiting}));
      // What is another state is told at once, other figures every twenty seconds at most, and never the seconds that pass.
      const is = stateWords(app, ""), count = position.textContent + estimate.textContent;
      if (is === state && (count === figures || performance.now() - told <= 20000)) return;
      [told, state, figures] = [performance.now(), is, count];
      tell([position.textContent, explanation.textContent, estimate.textContent].filter(Boolean).join(" "));
    },
  };
}

function stateWords(app, left) {
  const {status} = app;
  if (status.phase === "early") {
    const when = instant(status.opens_at, app.event?.zone);
    return say(app.notice?.queueing === "random" ? "wait.lot" : "wait.early", {when, left});
  }
  if (status.availability === "may-come-back") return say("wait.may-come-back");
  if (!status.is_letting_in) return say("wait.paused");
  return status.state === "away" || app.roomClock.now() < app.wasAwayUntil ? say("wait.away") : "";
}

// A range, as the room measured it; or that nobody can know.
function estimateWords(status) {
  if (status.phase !== "open" || status.availability !== "available") return "";
  if (!status.estimate) return say("wait.unknown");
  const {low_s: low, high_s: high, basis} = status.estimate;
  return say(basis === "measured" ? "wait.measured" : "wait.set", {range: range(low, high)});
}

export function elsewhere(app) {
  return message(say("elsewhere.title"), say("elsewhere.words"),
    h("div", {className: "row"}, button(say("elsewhere.take"), () => app.takeOver(), {className: "main", id: "take-over"})));
}

export function otherTab(app) {
  return message(say("tab.title"), say("tab.words"), button(say("tab.take"), () => app.takeTab(), {className: "main", id: "take-tab"}));
}

export function over(app, name) {
  const again = name !== "sold-out" && name !== "closed";
  return message(say(`over.${name}.title`), say(`over.${name}.words`),
    h("div", {className: "row"}, again && button(say("over.again"), () => app.joinAgain(), {className: "main"}),
      h("a", {className: "button", href: "/"}, say("over.events"))));
}

// ---------------------------------------------------------------- another device

// A key for another device as a code and as letters. It is never part of an address.
function moveAway(app) {
  const dialog = h("dialog", {"aria-labelledby": "move-title"});
  const problem = h("p", {className: "danger", role: "alert"});
  const open = async () => {
    let key;
    try {
      key = await app.spareKey();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return setText(problem, refusalWords(error));
    }
    const letters = h("textarea", {readonly: true, rows: "2", "aria-label": say("move.key"), id: "move-key"});
    letters.value = key;
    dialog.replaceChildren(
      h("h2", {id: "move-title"}, say("move.title")), h("p", {}, say("move.words")), qrCode(key, "L"), letters,
      h("div", {className: "row"}, button(say("move.copy"), () => navigator.clipboard?.writeText(key)), button(say("close"), () => dialog.close())));
    dialog.showModal();
  };
  return [button(say("move.open"), open, {id: "move-away"}), problem, dialog];
}

function moveHere(app) {
  const field = h("textarea", {id: "given-key", rows: "3", spellcheck: "false", autocomplete: "off"});
  const problem = h("p", {className: "danger", role: "alert"});
  const act = async () => setText(problem, (await app.moveHere(field.value)) === false ? say("move.refused") : "");
  return h("details", {}, h("summary", {}, say("move.have")), h("p", {}, say("move.warn")),
    h("label", {htmlFor: "given-key"}, say("move.key")), field, problem, button(say("move.here"), act, {id: "move-here"}));
}

export function qrCode(text, level) {
  const rows = qrModules(text, level), size = rows.length + 8;
  let path = "";
  rows.forEach((row, y) => row.forEach((dark, x) => { if (dark) path += `M${x + 4} ${y + 4}h1v1h-1z`; }));
  return svg("svg", {class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": say("ticket.code")},
    svg("rect", {width: size, height: size, fill: "#fff"}), svg("path", {d: path, fill: "#000"}));
}

// ---------------------------------------------------------------- refusals

export function refusalWords(error) {
  const name = `refused.${error.code}`;
  if (error.code === "admission-refused" && knows(`${name}.${error.reason}`)) return say(`${name}.${error.reason}`);
  if (error.code && knows(name)) return say(name);
  return say("refused.other", {code: error.code ?? "", id: error.problem?.request_id ?? ""});
}

// Names of the plan keep their own direction within the sentence: U+2068 and U+2069 isolate them.
const isolated = (text) => `\u2068${text}\u2069`;

// A row, or the table or booth that the plan has there; a kind that is not known is a row.
export function rowWords(row, kind) {
  return say(kind === "table" ? "seat.table" : kind === "booth" ? "seat.booth" : "seat.row", {row: isolated(row)});
}

// A booth may have its name from its one seat.
export function seatWords({section, row, number, row_kind: kind}) {
  const seat = number && (kind === "booth" && !row ? rowWords(number, kind) : say("seat.number", {number: isolated(number)}));
  const parts = [section && isolated(section), row && rowWords(row, kind), seat];
  return parts.filter(Boolean).join(say("comma"));
}
