// The seats of an event: the plan, how each seat stands, and the feed of changes.

import {Refusal, backOffMs, isUndecided, online} from "./net.js";

export const FREE = 0;
export const HELD = 1;
const SNAPSHOT_MAGIC = 0x53535154; // TQSS, little endian
const DELTA_MAGIC = 0x44535154; // TQSD
const SNAPSHOT_BYTES = 32;
const DELTA_BYTES = 36;
const SILENT_AFTER_MS = 10000;
const LATE_MS = 5000; // changes that nobody has numbered for so long do not reach the map

// A snapshot: {epoch, version, states}, one byte a seat.
export function readSnapshot(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < SNAPSHOT_BYTES || view.getUint32(0, true) !== SNAPSHOT_MAGIC || view.getUint8(4) !== 1 || view.getUint8(5) !== 0) {
    throw new Error("no seat snapshot that this page reads");
  }
  const count = view.getUint32(28, true);
  const packed = new Uint8Array(buffer, SNAPSHOT_BYTES);
  if (packed.length !== Math.ceil(count / 4)) throw new Error("a snapshot of another length");
  const states = new Uint8Array(count);
  for (let seat = 0; seat < count; seat++) states[seat] = (packed[seat >> 2] >> (2 * (seat & 3))) & 3;
  return {
    planVersion: view.getUint32(12, true), epoch: view.getUint32(16, true), version: Number(view.getBigUint64(20, true)),
    states,
  };
}

// A delta: {epoch, from, to, words}; a word is seat_no << 8 | state.
export function readDelta(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < DELTA_BYTES || view.getUint32(0, true) !== DELTA_MAGIC || view.getUint8(4) !== 1 || view.getUint8(5) !== 0) {
    throw new Error("no seat delta that this page reads");
  }
  const count = view.getUint32(32, true);
  if (buffer.byteLength !== DELTA_BYTES + 4 * count) throw new Error("a delta of another length");
  const words = Array.from({length: count}, (_, index) => view.getUint32(DELTA_BYTES + 4 * index, true));
  return {
    epoch: view.getUint32(12, true), from: Number(view.getBigUint64(16, true)), to: Number(view.getBigUint64(24, true)),
    words,
  };
}

// What is where, with what people call it.
export class Plan {
  constructor(wire) {
    Object.assign(this, wire);
    this.floors = wire.floors ?? [];
    this.tables = wire.tables ?? [];
    this.standing = wire.standing ?? [];
    const kinds = new Map(this.tables.flatMap((table) => [table.row_no, ...(table.more_rows ?? [])].map((row) => [row, table.kind])));
    this.rows = wire.rows.map((row, index) => ({...row, kind: kinds.get(index) ?? ""}));
    this.count = wire.seats.x.length;
    this.floorOf = Uint8Array.from(wire.seats.row_no, (row) => wire.sections[wire.rows[row].section_no].floor_no ?? 0);
  }

  // {section, row, number, row_kind} of a seat, as texts of the plan: what a `SeatRef` says.
  nameOf(seat) {
    const row = this.rows[this.seats.row_no[seat]];
    return {section: this.sections[row.section_no].name, row: row.label, number: this.seats.number[seat], row_kind: row.kind};
  }

  rowsOf(section) {
    return this.rows.filter((row) => row.section_no === section);
  }
}

// Loads plan and seats and keeps them true until `stop`. `changed(seats)` names changed seats, null all; `replanned()`: the
// event is on another version of its plan; `stale(yes)`: what is shown may not be so.
export class Seats {
  constructor(line, eventId, {changed, replanned, stale, tiers}) {
    Object.assign(this, {line, eventId, changed, replanned, stale, toldTiers: tiers});
    this.plan = null;
    this.states = new Uint8Array(0);
    this.epoch = this.version = -1;
    this.ending = new AbortController();
    this.heardAt = 0;
  }

  async load() {
    await this.#loadPlan();
    await this.#loadStates();
    this.#follow();
    this.#watch();
  }

  stop() {
    this.ending.abort();
    this.socket?.close();
  }

  async #loadPlan() {
    const {body} = await this.line.call("GET", `/v1/events/${this.eventId}/plan`, {raw: true, patienceMs: 60000});
    this.plan = new Plan(JSON.parse(new TextDecoder().decode(body)));
  }

  async #loadStates() {
    const {body} = await this.line.call("GET", `/v1/events/${this.eventId}/seats`, {raw: true});
    const told = readSnapshot(body);
    const isNew = told.planVersion !== this.plan.version;
    if (isNew) await this.#loadPlan();
    if (told.states.length !== this.plan.count) throw new Error("the seats are not those of the plan");
    Object.assign(this, {epoch: told.epoch, version: told.version, states: told.states});
    if (isNew) this.replanned();
    this.changed(null);
  }

  async #follow() {
    const {signal} = this.ending;
    for (let failures = 0; !signal.aborted; ) {
      const began = performance.now();
      const again = await this.#listen();
      if (signal.aborted) return;
      if (performance.now() - began > 5000) failures = 0;
      failures += 1;
      if (!again) {
        this.stale(true);
        await online(backOffMs(null, failures) + 500, signal);
      }
      try {
        if (again || failures > 1) await this.#loadStates();
      } catch (error) {
        if (!(error instanceof Refusal) && !isUndecided(error)) console.error(error);
        this.stale(true);
        await online(backOffMs(null, failures), signal);
      }
    }
  }

  // One connection; ends with true when the snapshot has to be loaded anew, false when the line was lost.
  #listen() {
    return new Promise((resolve) => {
      const base = new URL(this.line.base || location.origin);
      base.protocol = base.protocol.replace("http", "ws");
      base.pathname = `${base.pathname.replace(/\/$/, "")}/v1/events/${this.eventId}/seats/feed`;
      base.search = `?form=binary&tiers=true&epoch=${this.epoch}&since=${this.version}`;
      const socket = (this.socket = new WebSocket(base));
      socket.binaryType = "arraybuffer";
      let again = false;
      const anew = () => {
        again = true;
        socket.close();
      };
      socket.onmessage = ({data}) => {
        this.heardAt = performance.now();
        if (typeof data !== "string") {
          if (!this.#apply(readDelta(data))) anew();
          return;
        }
        const frame = JSON.parse(data);
        if (frame.type === "resync") anew();
        else if (frame.type === "tiers") this.toldTiers(frame.tiers);
        else if (frame.epoch !== this.epoch) anew();
        else this.stale(Date.parse(frame.server_time) - Date.parse(frame.sequenced_at ?? frame.server_time) > LATE_MS);
      };
      socket.onclose = () => resolve(again);
    });
  }

  #apply(delta) {
    if (delta.epoch !== this.epoch || delta.from > this.version) return false;
    if (delta.to <= this.version) return true;
    const seats = [];
    for (const word of delta.words) {
      this.states[word >>> 8] = word & 3;
      seats.push(word >>> 8);
    }
    this.version = delta.to;
    this.stale(false);
    this.changed(seats);
    return true;
  }

  // A line that says nothing, not even its beat, is none.
  #watch() {
    const timer = setInterval(() => {
      if (this.socket?.readyState === WebSocket.OPEN && performance.now() - this.heardAt > SILENT_AFTER_MS) {
        this.socket.close();
      }
    }, 2000);
    this.ending.signal.addEventListener("abort", () => clearInterval(timer));
  }
}
