// The page: which event, who we are, where we stand, and the view that shows it.

import {Account, keyIn} from "./account.js";
import {BotCheck} from "./bot_check.js";
import {drawFrame, report, showTitle, showTrouble} from "./frame.js";
import * as memory from "./memory.js";
import {Line, Refusal, untilDecided} from "./net.js";
import {Seats} from "./plan.js";
import {Queue} from "./queue.js";
import {Sale} from "./sale.js";
import {ServerClock, pause} from "./time.js";
import {h, named, tell} from "./ui.js";
import {PickView} from "./view_pick.js";
import * as before from "./view_queue.js";
import * as selling from "./view_sale.js";
import {preferred, say, speak} from "./words.js";

const AWAY_AFTER_MS = 100000;
const setting = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

const VIEWS = {
  events: before.eventList, join: before.join, waiting: before.waiting, elsewhere: before.elsewhere, tab: before.otherTab,
  pick: (app) => new PickView(app),
  hold: selling.holding, pay: selling.paying, unknown: selling.unknown, action: selling.action, tickets: selling.tickets,
  loading: () => ({element: h("p", {role: "status"}, say("loading"))}),
  "no-event": () => before.message(say("no-event.title"), say("no-event.words"), h("a", {className: "button", href: "/"}, say("over.events"))),
};
for (const name of ["sold-out", "closed", "bought", "over"]) VIEWS[name] = (app) => before.over(app, name);

class App {
  roomClock = new ServerClock();
  bookingClock = new ServerClock();
  room = new Line("", this.roomClock);
  booking = new Line(setting("booking-url"), this.bookingClock);
  account = new Account(this.booking, this.bookingClock);
  payments = setting("payments");
  stripeKey = setting("stripe-key");
  botCheck = new BotCheck(setting("bot-check-widget"), setting("bot-check-site-key"));
  event = null;
  events = null;
  notice = undefined; // null: the event has no waiting room
  status = null;
  sale = null;
  queue = null;
  seats = null;
  view = null;
  viewName = "";
  isStale = false;
  away = null; // the waiting room does not answer
  bookingAway = null;
  joinProblem = null;
  joinCode = "";
  isElsewhereTab = false;
  wasAwayUntil = 0;
  heardAt = 0;

  async start() {
    await speak(preferred());
    drawFrame(() => this.#drawAnew());
    this.eventId = Number(/^\/events\/(\d+)$/.exec(location.pathname)?.[1] ?? 0);
    this.accessCode = memory.codeOf(this.eventId);
    setInterval(() => this.#refreshView(), 500);
    setInterval(() => this.account.keep(), 5000);
    addEventListener("online", () => this.draw());
    addEventListener("offline", () => this.draw());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#lookAgain());
    addEventListener("pageshow", ({persisted}) => persisted && this.#lookAgain());
    this.draw();
    this.#goOnMoving();
    if (this.eventId) await this.#openEvent({steal: memory.takesTab.take()});
    else await this.#listEvents();
  }

  // A key was being used when the page was left.
  #goOnMoving() {
    const {key} = memory.moving.read() ?? {};
    if (key) this.#useKey(key).catch(report);
  }

  // ---------------------------------------------------------------- beginning

  async #listEvents() {
    const {body} = await this.#ask(() => this.booking.call("GET", "/v1/events"));
    this.events = body.events;
    this.draw();
  }

  async #openEvent({steal}) {
    this.isElsewhereTab = !(await memory.onlyTab(this.eventId, () => this.#loseTab(), {steal}));
    this.draw();
    if (!this.isElsewhereTab) await this.#begin();
  }

  async #begin() {
    const told = this.#loadEvent().catch((error) => this.#noEvent(error));
    // A step that goes on after a reload may need the turn: it waits for the place to be found.
    this.placing = this.#loadNotice().then(() => (this.notice && this.account.token ? this.#findPlace() : undefined));
    this.sale = new Sale(this.booking, this.eventId, this.account, memory.saleOf(this.eventId), {
      turn: this.#turn(), changed: () => this.#saleChanged(),
    });
    if (this.account.token) this.sale.resume().catch(report);
    else this.sale.forget();
    try {
      await this.placing;
    } catch (error) {
      this.#queueRefused(error);
    }
    await told;
    this.draw();
  }

  async #loadEvent() {
    const {body} = await this.#ask(() => this.booking.call("GET", `/v1/events/${this.eventId}`));
    this.event = body;
    this.draw();
  }

  #noEvent(error) {
    if (!(error instanceof Refusal)) throw error;
    this.missing = true;
    this.draw();
  }

  async #loadNotice() {
    try {
      const {body} = await untilDecided(() => this.room.call("GET", `/v1/events/${this.eventId}/room`), {onTrouble: (error) => this.#roomAway(error)});
      this.notice = body;
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      this.notice = null;
    }
    this.draw();
  }

  async #findPlace() {
    this.#makeQueue();
    if (await this.queue.find((error) => this.#roomAway(error))) this.#askQueue();
  }

  // Unless another tab has taken over meanwhile.
  #askQueue() {
    if (!this.isElsewhereTab) this.queue.start();
  }

  #makeQueue() {
    this.queue?.stop();
    this.queue = new Queue(this.room, this.eventId, this.account, memory.session(), (news) => this.#heard(news));
  }

  #ask(call) {
    return untilDecided(call, {onTrouble: this.#trouble});
  }

  #trouble = (error) => {
    this.bookingAway = error;
    this.draw();
  };

  // ---------------------------------------------------------------- the queue

  async join(code) {
    this.joinCode = code;
    this.joinProblem = null;
    try {
      await this.account.open(this.#trouble);
      this.#makeQueue();
      await this.queue.join(code, this.botCheck.take(), (error) => this.#roomAway(error));
      this.#askQueue();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 401) this.account.lose();
      this.joinProblem = error;
      await this.#loadNotice();
    }
    this.draw();
  }

  // Something has to be done before one can join.
  joinFirst(words) {
    this.joinProblem = words;
    this.draw();
  }

  async joinAgain() {
    this.status = null;
    await this.#loadNotice();
    if (this.notice?.registration_required || this.notice?.bot_check) this.draw();
    else await this.join("");
  }

  async leaveQueue() {
    await this.queue.leave().catch((error) => this.#queueRefused(error));
    if (this.joinProblem?.code === "place-not-found") this.joinProblem = null; // who has no place any more has left
    this.#closeSeats();
    this.status = null;
    await this.#loadNotice();
  }

  async takeOver() {
    await this.queue.takeOver().catch((error) => this.#queueRefused(error));
  }

  // Go on with an account that began on another device, unless there is one whose tickets are dearer. False: no good key.
  async moveHere(text) {
    const key = keyIn(text);
    if (!key) return false;
    return this.account.token && !confirm(say("move.sure")) ? null : this.#useKey(key);
  }

  spareKey() {
    return this.account.spare(this.#trouble);
  }

  async #useKey(key) {
    const good = await this.account.moveHere(key, this.#trouble);
    if (good) await this.#beginAnew();
    return good;
  }

  // What was shown was another account's. A page that nothing outlives must not be loaded again.
  async #beginAnew() {
    if (memory.keepsAnything) return location.reload();
    this.queue?.stop();
    this.sale?.leave();
    this.#closeSeats();
    Object.assign(this, {status: null, notice: undefined, joinProblem: null});
    await this.#begin();
  }

  async forgetMe() {
    await this.account.forget();
    location.assign("/");
  }

  #heard(news) {
    if (news.refused) {
      this.#queueRefused(news.refused);
      return;
    }
    this.#roomAway(news.away ?? null);
    if (!news.status) return;
    const before = this.status;
    this.status = news.status;
    // Silent for longer than a poll takes: asleep, or without a network. Others may have been let in meanwhile.
    const now = Date.now();
    if (this.heardAt && now - this.heardAt > AWAY_AFTER_MS) this.wasAwayUntil = this.roomClock.now() + AWAY_AFTER_MS;
    this.heardAt = now;
    if (before?.admission_token === undefined && news.status.admission_token) this.#turnCame();
    this.draw();
  }

  #turnCame() {
    tell(say("turn.came"), {urgent: true});
    if (document.visibilityState === "hidden") navigator.vibrate?.([200, 100, 200]);
  }

  #queueRefused(error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) this.account.lose();
    this.joinProblem = error;
    this.queue?.stop();
    this.status = null;
    this.draw();
  }

  #roomAway(error) {
    this.away = error;
    this.draw();
  }

  // The headers that a hold needs; `refresh` gets a newer token.
  #turn() {
    const turn = () => (this.status?.admission_token ? {"Admission-Token": this.status.admission_token, "Admission-Session": memory.session()} : {});
    turn.refresh = async () => {
      await this.placing?.catch(() => {});
      await this.queue?.refresh();
    };
    return turn;
  }

  // ---------------------------------------------------------------- the sale

  async hold(wish) {
    await this.account.open(this.#trouble);
    const code = this.accessCode.read();
    if (code) wish = {...wish, access_code: code};
    await this.sale.holdPlaces(wish, this.event.prices);
  }

  categoryOf(seat) {
    return this.seats?.plan?.seats.category_no[seat];
  }

  #saleChanged() {
    const {sale} = this;
    if (!sale) return;
    const reprice = sale.note?.code === "price-changed" && this.repriced !== sale.note;
    if (sale.step === "hold" && (!sale.kept.has_prices || reprice) && !this.pricing) {
      this.repriced = sale.note;
      this.pricing = this.#loadEvent().then(() => sale.setPrices(this.event.prices)).catch(report).finally(() => { this.pricing = null; });
    }
    if (sale.note === "signed-out") this.account.lose();
    if (sale.step === "tickets") this.queue?.wake();
    this.draw();
  }

  finish() {
    this.sale.forget();
    location.assign("/");
  }

  // ---------------------------------------------------------------- tabs, sleep, the way back

  #loseTab() {
    this.queue?.stop();
    this.sale?.leave();
    this.#closeSeats();
    this.isElsewhereTab = true;
    this.draw();
  }

  // What this tab knew may be old: begin as after a reload.
  takeTab() {
    memory.takesTab.set();
    location.reload();
  }

  #lookAgain() {
    this.queue?.wake();
    if (this.sale?.step && !this.sale.busy) this.sale.refresh().catch(report);
  }

  // ---------------------------------------------------------------- what is shown

  #wanted() {
    if (!this.eventId) return this.events ? "events" : "loading";
    if (this.isElsewhereTab) return "tab";
    if (this.missing) return "no-event";
    const step = this.sale?.step;
    if (step && this.event) return step === "hold" && !this.#canPrice() ? "loading" : step;
    if (this.notice === undefined || !this.sale) return "loading";
    if (this.sale.kept.intent && !this.sale.hold && this.sale.kept.intent.name !== "hold") return "loading";
    if (this.notice === null) return this.event ? "pick" : "loading";
    return this.#ofQueue();
  }

  // A hold after a reload needs the plan for its categories.
  #canPrice() {
    if (this.seats?.plan || this.sale.hold.seats.length === 0) return true;
    this.#openSeats();
    return false;
  }

  #ofQueue() {
    const {status} = this;
    if (!status || status.state === "left") return "join";
    if (status.state === "bought" || status.state === "over") return status.state;
    if (status.phase === "closed") return "closed";
    if (status.availability === "sold-out") return "sold-out";
    if (status.state !== "admitted") return "waiting";
    if (status.is_elsewhere || !status.admission_token) return "elsewhere";
    return this.event ? "pick" : "loading";
  }

  #drawAnew() {
    this.viewFace = null;
    this.draw();
  }

  draw() {
    const name = this.#wanted();
    // What joining asks for may change while somebody is at it.
    const {registration_required: code, bot_check: check, queueing} = this.notice ?? {};
    const face = name === "join" ? [name, code, check, queueing].join() : name;
    if (face !== this.viewFace || !this.view) this.#change(name);
    this.viewFace = face;
    this.#refreshView();
    showTrouble(this);
    showTitle(this, name);
  }

  #change(name) {
    this.view?.destroy?.();
    const first = !this.view;
    this.viewName = name;
    this.view = VIEWS[name](this);
    const main = document.getElementById("main");
    this.heading = h("p", {className: "event"}, h("strong"), h("span"));
    main.replaceChildren(this.heading, this.view.element);
    main.dataset.view = name;
    if (name === "pick") this.#openSeats();
    const title = main.querySelector("h1");
    if (!title || first) return;
    title.tabIndex = -1;
    title.focus({preventScroll: true});
    scrollTo(0, 0);
  }

  #refreshView() {
    const {event, heading} = this;
    if (event && heading && !heading.textContent && this.viewName !== "tickets") {
      heading.firstChild.append(named(event.name));
      heading.lastChild.append(named(event.venue_name));
    }
    try {
      this.view?.update?.(this);
    } catch (error) {
      report(error);
    }
  }

  async #openSeats() {
    if (this.seats) return;
    const seats = (this.seats = new Seats(this.booking, this.eventId, {
      changed: (numbers) => this.view?.seatsChanged?.(numbers),
      replanned: () => this.view instanceof PickView && this.#change("pick"),
      stale: (yes) => {
        this.isStale = yes;
        this.draw();
      },
      tiers: (tiers) => this.view?.tiersChanged?.(tiers),
    }));
    for (let tries = 0; this.seats === seats; tries++) {
      try {
        await seats.load();
        break;
      } catch (error) {
        this.bookingAway = error;
        this.draw();
        await pause(Math.min(10000, 1000 * 2 ** tries));
      }
    }
    this.bookingAway = null;
    this.draw();
  }

  #closeSeats() {
    this.seats?.stop();
    this.seats = null;
  }

}

new App().start().catch(report);
