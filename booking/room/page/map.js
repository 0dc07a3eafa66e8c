// The seat map on a canvas: drag, pinch, wheel and buttons; tap a seat to pick it. Who cannot use it has the list.

import {FREE} from "./plan.js";
import {button, h} from "./ui.js";
import {say} from "./words.js";

const MOST_ZOOM_PX = 22; // radius of a seat on the screen at the closest
const TOUCH_PX = 22; // a finger's reach
const EASY_PX = 7; // seats smaller than this are zoomed to, not picked
const COLOR = /^#[0-9a-f]{6}$/i;

// White or black, whichever is read better on a colour (WCAG's relative luminance).
function inkOn(color) {
  if (!COLOR.test(color)) return "#fff";
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

export class SeatMap {
  // `picked` is a Set of seat numbers; `pick(seat)` is asked when one is tapped.
  constructor(plan, {states, picked, pick}) {
    Object.assign(this, {plan, states, picked, pick});
    this.floor = 0;
    this.scale = 1;
    this.left = this.top = 0; // plan coordinates of the canvas' corner
    this.canvas = h("canvas", {role: "img", "aria-label": say("map.label")});
    const zoom = (factor, name) => button(factor > 1 ? "+" : "−", () => this.zoomBy(factor), {
      className: "round", "aria-label": say(name), title: say(name),
    });
    const all = button("⤢", () => this.fit(), {className: "round", "aria-label": say("map.all"), title: say("map.all")});
    this.element = h("div", {className: "map"}, h("div", {className: "map-tools"}, zoom(1.6, "map.in"), zoom(1 / 1.6, "map.out"), all), this.canvas);
    this.pointers = new Map();
    this.#listen();
    this.resizing = new ResizeObserver(() => this.#resize());
    this.resizing.observe(this.canvas);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.draw());
  }

  destroy() {
    this.resizing.disconnect();
  }

  showFloor(floor) {
    this.floor = floor;
    this.fit();
  }

  fit() {
    const [left, top, right, bottom] = this.#bounds();
    this.canvas.style.aspectRatio = String((right - left) / (bottom - top));
    const {clientWidth: width, clientHeight: height} = this.canvas;
    if (!width || !height) return;
    this.scale = this.least = Math.min(width / (right - left), height / (bottom - top));
    this.left = (left + right - width / this.scale) / 2;
    this.top = (top + bottom - height / this.scale) / 2;
    this.draw();
  }

  zoomBy(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const most = Math.max(this.least, MOST_ZOOM_PX / this.plan.seat_radius);
    const scale = Math.min(most, Math.max(this.least, this.scale * factor));
    this.left += x / this.scale - x / scale;
    this.top += y / this.scale - y / scale;
    this.scale = scale;
    this.draw();
  }

  // Bring a seat into the middle, near enough to be read.
  showSeat(seat) {
    if (this.floor !== this.plan.floorOf[seat]) this.floor = this.plan.floorOf[seat];
    this.scale = Math.max(this.scale, 12 / this.plan.seat_radius);
    this.left = this.plan.seats.x[seat] - this.canvas.clientWidth / 2 / this.scale;
    this.top = this.plan.seats.y[seat] - this.canvas.clientHeight / 2 / this.scale;
    this.draw();
  }

  draw() {
    this.canvas.style.touchAction = this.#isZoomed ? "none" : "pan-y"; // from afar a finger moves the page
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.#paint();
    });
  }

  // ---------------------------------------------------------------- painting

  #paint() {
    const {canvas} = this;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const ink = (name) => style.getPropertyValue(name).trim();
    const ratio = devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = ink("--paper");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    const k = this.scale * ratio;
    pen.setTransform(k, 0, 0, k, -this.left * k, -this.top * k);
    this.#paintAreas(pen, ink);
    this.#paintSeats(pen, ink);
    this.#paintNames(pen, ink);
  }

  #paintAreas(pen, ink) {
    const areas = [...this.plan.areas, ...this.plan.standing.map((one) => one.area)];
    for (const area of areas) {
      if ((area.floor_no ?? 0) !== this.floor && area.floor_no !== -1) continue;
      const {x, y, width = 0, height = 0, points = []} = area;
      pen.save();
      pen.translate(x, y);
      pen.rotate(((area.rotation ?? 0) * Math.PI) / 180);
      pen.beginPath();
      if (area.shape === "rectangle") pen.rect(0, 0, width, height);
      else if (area.shape === "circle" || area.shape === "ellipse") pen.ellipse(0, 0, width / 2, (height || width) / 2, 0, 0, 7);
      else for (let index = 0; index + 1 < points.length; index += 2) pen.lineTo(points[index], points[index + 1]);
      pen.closePath();
      if (area.shape !== "text") {
        pen.fillStyle = ink("--area");
        pen.fill();
      }
      pen.restore();
    }
  }

  #paintSeats(pen, ink) {
    const {seats, categories, seat_radius: radius} = this.plan;
    const margin = 2 * radius;
    const right = this.left + this.canvas.clientWidth / this.scale + margin;
    const bottom = this.top + this.canvas.clientHeight / this.scale + margin;
    const round = radius * this.scale > 2.5;
    const groups = new Map();
    const mine = [];
    for (let seat = 0; seat < this.plan.count; seat++) {
      const x = seats.x[seat], y = seats.y[seat];
      if (x < this.left - margin || x > right || y < this.top - margin || y > bottom || this.plan.floorOf[seat] !== this.floor) continue;
      if (this.picked.has(seat)) {
        mine.push(seat);
        continue;
      }
      const group = this.states()[seat] === FREE ? seats.category_no[seat] : -1;
      let path = groups.get(group);
      if (!path) groups.set(group, (path = new Path2D()));
      const size = group < 0 ? radius * 0.55 : radius * 0.9;
      if (round) {
        path.moveTo(x + size, y);
        path.arc(x, y, size, 0, 7);
      } else path.rect(x - size, y - size, 2 * size, 2 * size);
    }
    for (const [group, path] of groups) {
      const color = group < 0 ? "" : categories[group]?.color;
      pen.fillStyle = group < 0 ? ink("--taken") : COLOR.test(color) ? color : ink("--accent");
      pen.fill(path);
    }
    pen.lineWidth = Math.max(radius * 0.3, 2 / this.scale);
    for (const seat of mine) {
      const size = Math.max(radius * 1.15, 5 / this.scale);
      pen.beginPath();
      pen.arc(seats.x[seat], seats.y[seat], size, 0, 7);
      pen.fillStyle = ink("--mine");
      pen.fill();
      pen.strokeStyle = ink("--text");
      pen.stroke();
    }
  }

  #paintNames(pen, ink) {
    const px = (size) => `${size / this.scale}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = ink("--text");
    for (const area of this.plan.areas) {
      if (!area.text || ((area.floor_no ?? 0) !== this.floor && area.floor_no !== -1)) continue;
      const placed = area.text_x || area.text_y || area.shape !== "rectangle";
      pen.font = px(Math.min(28, Math.max(11, (area.text_size || 12) * this.scale)));
      pen.fillText(area.text, area.x + (placed ? area.text_x ?? 0 : area.width / 2), area.y + (placed ? area.text_y ?? 0 : area.height / 2));
    }
    const near = this.plan.seat_radius * this.scale;
    if (near > 9) this.#paintNumbers(pen, ink, px);
    if (near < 6) {
      pen.font = `600 ${px(12)}`;
      pen.lineWidth = 3 / this.scale;
      pen.strokeStyle = ink("--paper");
      const taken = [];
      for (const {name, label_x: x, label_y: y, floor_no: floor = 0} of this.plan.sections) {
        if (floor !== this.floor) continue;
        const half = pen.measureText(name).width / 2 + 2 / this.scale, high = 9 / this.scale;
        if (taken.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < 2 * high)) continue;
        taken.push({x, y, half});
        pen.strokeText(name, x, y);
        pen.fillText(name, x, y);
      }
    }
  }

  #paintNumbers(pen, ink, px) {
    const {seats} = this.plan;
    pen.font = px(Math.min(13, this.plan.seat_radius * this.scale * 0.8));
    const right = this.left + this.canvas.clientWidth / this.scale, bottom = this.top + this.canvas.clientHeight / this.scale;
    for (let seat = 0; seat < this.plan.count; seat++) {
      const x = seats.x[seat], y = seats.y[seat];
      if (x < this.left || x > right || y < this.top || y > bottom || this.plan.floorOf[seat] !== this.floor) continue;
      if (this.states()[seat] !== FREE && !this.picked.has(seat)) continue;
      pen.fillStyle = this.picked.has(seat) ? ink("--on-mine") : inkOn(this.plan.categories[seats.category_no[seat]]?.color);
      pen.fillText(seats.number[seat], x, y);
    }
  }

  #bounds() {
    const {seats, seat_radius: radius} = this.plan;
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    const add = (x, y) => {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    };
    for (let seat = 0; seat < this.plan.count; seat++) if (this.plan.floorOf[seat] === this.floor) add(seats.x[seat], seats.y[seat]);
    for (const area of [...this.plan.areas, ...this.plan.standing.map((one) => one.area)]) {
      if ((area.floor_no ?? 0) !== this.floor && area.floor_no !== -1) continue;
      const {x, y, width = 0, height = 0} = area;
      const [dx, dy] = area.shape === "rectangle" ? [0, 0] : [width / 2, (height || width) / 2];
      add(x - dx, y - dy);
      add(x - dx + width, y - dy + (height || 0));
    }
    if (left === Infinity) return [0, 0, this.plan.width, this.plan.height];
    return [left - 3 * radius, top - 3 * radius, right + 3 * radius, bottom + 3 * radius];
  }

  // ---------------------------------------------------------------- hands

  #listen() {
    const {canvas} = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      if (this.pointers.size === 1) this.began = {x: event.offsetX, y: event.offsetY, moved: false};
      else this.began = null;
    });
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => {
      const tap = this.pointers.delete(event.pointerId) && this.began && !this.began.moved;
      if (tap) this.#tap(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !this.#isZoomed) return; // the page scrolls
      event.preventDefault();
      this.zoomBy(1.0015 ** -event.deltaY, event.offsetX, event.offsetY);
    }, {passive: false});
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, event.offsetX, event.offsetY));
  }

  get #isZoomed() {
    return this.scale > this.least * 1.01;
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const apart = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
      this.zoomBy(apart(now) / apart(before), other[0], other[1]);
    } else {
      if (this.began && Math.hypot(now[0] - this.began.x, now[1] - this.began.y) > 6) this.began.moved = true;
      if (this.began?.moved) {
        this.left -= (now[0] - before[0]) / this.scale;
        this.top -= (now[1] - before[1]) / this.scale;
        this.draw();
      }
    }
    this.pointers.set(event.pointerId, now);
  }

  #tap(x, y) {
    const seat = this.seatAt(x, y);
    if (seat === null) return;
    if (this.plan.seat_radius * this.scale < EASY_PX) this.zoomBy((EASY_PX * 1.8) / (this.plan.seat_radius * this.scale), x, y);
    else this.pick(seat);
  }

  // The nearest seat within a finger's reach of a point of the canvas.
  seatAt(x, y) {
    const {seats} = this.plan;
    const px = this.left + x / this.scale, py = this.top + y / this.scale;
    let best = null, least = TOUCH_PX / this.scale;
    for (let seat = 0; seat < this.plan.count; seat++) {
      if (this.plan.floorOf[seat] !== this.floor) continue;
      const apart = Math.hypot(seats.x[seat] - px, seats.y[seat] - py);
      if (apart < least) [best, least] = [seat, apart];
    }
    return best;
  }

  // Where a seat is on the canvas, in px.
  placeOf(seat) {
    return [(this.plan.seats.x[seat] - this.left) * this.scale, (this.plan.seats.y[seat] - this.top) * this.scale];
  }

  #resize() {
    const ratio = devicePixelRatio || 1;
    const {clientWidth, clientHeight} = this.canvas;
    const first = !this.least;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    if (first || !this.#isZoomed) this.fit();
    else this.draw();
  }
}
