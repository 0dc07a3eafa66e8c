// QR codes (ISO/IEC 18004), byte mode, versions 1 to 20: for tickets (level M) and for moving to another device (L).

const PER_BLOCK = {
  L: [0, 7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28],
  M: [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26],
};
const BLOCKS = {
  L: [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8],
  M: [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16],
};
const LEVEL_BITS = {L: 1, M: 0};
const EXP = new Uint8Array(255), LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  EXP[power] = value;
  LOG[value] = power;
  value = (value << 1) ^ (value & 128 ? 0x11d : 0);
}
const times = (a, b) => (a && b ? EXP[(LOG[a] + LOG[b]) % 255] : 0);

function rawBits(version) {
  let bits = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const marks = Math.floor(version / 7) + 2;
    bits -= (25 * marks - 10) * marks - 55;
    if (version >= 7) bits -= 36;
  }
  return bits;
}

const dataBytes = (version, level) => (rawBits(version) >> 3) - PER_BLOCK[level][version] * BLOCKS[level][version];

function remainder(data, count) {
  let divisor = [1];
  for (let i = 0; i < count; i++) {
    const next = [...divisor, 0];
    for (let j = 0; j < divisor.length; j++) next[j + 1] ^= times(divisor[j], EXP[i]);
    divisor = next;
  }
  const rest = new Array(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    for (let j = 0; j < count; j++) rest[j] ^= times(divisor[j + 1], factor);
  }
  return rest;
}

function codewords(bytes, version, level) {
  const bits = [];
  const put = (value, length) => {
    for (let i = length - 1; i >= 0; i--) bits.push((value >>> i) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  const room = dataBytes(version, level) * 8;
  put(0, Math.min(4, room - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = [];
  for (let i = 0; i < bits.length; i += 8) data.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; data.length < room / 8; pad ^= 0xfd) data.push(pad);
  return interleaved(data, version, level);
}

function interleaved(data, version, level) {
  const blocks = BLOCKS[level][version], extra = PER_BLOCK[level][version];
  const all = rawBits(version) >> 3;
  const short = blocks - (all % blocks), length = Math.floor(all / blocks) - extra;
  const parts = [];
  for (let i = 0, at = 0; i < blocks; i++) {
    const part = data.slice(at, (at += length + (i >= short ? 1 : 0)));
    parts.push({part, check: remainder(part, extra)});
  }
  const out = [];
  for (let i = 0; i <= length; i++) for (const {part} of parts) if (i < part.length) out.push(part[i]);
  for (let i = 0; i < extra; i++) for (const {check} of parts) out.push(check[i]);
  return out;
}

function alignment(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2, size = version * 4 + 17;
  const step = Math.ceil((size - 13) / (count * 2 - 2)) * 2;
  const places = [6];
  for (let i = 0, at = size - 7; i < count - 1; i++, at -= step) places.splice(1, 0, at);
  return places;
}

const MASKS = [
  (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

// The modules of a text's code: rows of booleans, dark is true. Throws when it is too long.
export function qrModules(text, level = "M") {
  const bytes = new TextEncoder().encode(text);
  let version = 1;
  while (version <= 20 && bytes.length + (version < 10 ? 2 : 3) > dataBytes(version, level)) version++;
  if (version > 20) throw new Error("too long for a code");
  const size = version * 4 + 17;
  const dark = Array.from({length: size}, () => new Array(size).fill(false));
  const fixed = Array.from({length: size}, () => new Array(size).fill(false));
  const set = (x, y, value) => {
    dark[y][x] = Boolean(value);
    fixed[y][x] = true;
  };
  drawPatterns(set, size, version, fixed);
  drawFormat(set, size, level, 0);
  drawData(dark, fixed, size, codewords(bytes, version, level));
  let best = null;
  for (let mask = 0; mask < 8; mask++) {
    const tried = dark.map((row, y) => row.map((value, x) => (fixed[y][x] ? value : value !== (MASKS[mask](x, y) === 0))));
    drawFormat((x, y, value) => (tried[y][x] = Boolean(value)), size, level, mask);
    const cost = penalty(tried, size);
    if (!best || cost < best.cost) best = {cost, tried};
  }
  return best.tried;
}

function drawPatterns(set, size, version, fixed) {
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
    for (let dy = -4; dy <= 4; dy++) for (let dx = -4; dx <= 4; dx++) {
      const x = cx + dx, y = cy + dy, ring = Math.max(Math.abs(dx), Math.abs(dy));
      if (x >= 0 && x < size && y >= 0 && y < size) set(x, y, ring !== 2 && ring !== 4);
    }
  }
  const places = alignment(version), last = places.length - 1;
  places.forEach((cx, i) => places.forEach((cy, j) => {
    if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
    for (let dy = -2; dy <= 2; dy++) for (let dx = -2; dx <= 2; dx++) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }));
  if (version < 7) return;
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let i = 0; i < 18; i++) {
    const a = size - 11 + (i % 3), b = Math.floor(i / 3), value = (bits >>> i) & 1;
    set(a, b, value);
    set(b, a, value);
  }
}

function drawFormat(set, size, level, mask) {
  const data = (LEVEL_BITS[level] << 3) | mask;
  let rest = data;
  for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412;
  const bit = (i) => (bits >>> i) & 1;
  for (let i = 0; i <= 5; i++) set(8, i, bit(i));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let i = 9; i < 15; i++) set(14 - i, 8, bit(i));
  for (let i = 0; i < 8; i++) set(size - 1 - i, 8, bit(i));
  for (let i = 8; i < 15; i++) set(8, size - 15 + i, bit(i));
  set(8, size - 8, 1);
}

function drawData(dark, fixed, size, words) {
  let i = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) for (let j = 0; j < 2; j++) {
      const x = right - j, y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      if (fixed[y][x] || i >= words.length * 8) continue;
      dark[y][x] = ((words[i >> 3] >>> (7 - (i & 7))) & 1) === 1;
      i++;
    }
  }
}

// How hard a mask is to read: long runs, blocks, finder-like runs, imbalance.
function penalty(rows, size) {
  let cost = 0, black = 0;
  const line = (at) => {
    let run = 0, text = "";
    for (let i = 0; i < size; i++) {
      run = i && at(i) === at(i - 1) ? run + 1 : 1;
      if (run === 5) cost += 3;
      else if (run > 5) cost += 1;
      text += at(i) ? 1 : 0;
    }
    cost += 40 * ((text.match(/(?=00001011101|10111010000)/g) ?? []).length);
  };
  for (let i = 0; i < size; i++) {
    line((j) => rows[i][j]);
    line((j) => rows[j][i]);
  }
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) {
    black += rows[y][x] ? 1 : 0;
    if (x && y && rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) cost += 3;
  }
  return cost + 10 * Math.floor(Math.abs((black * 20) / (size * size) - 10));
}
