// What survives a reload, a crash and a closed tab: the account, this browser's secret, and the sale with its keys.

const kept = (() => {
  try {
    const store = globalThis.localStorage;
    store.setItem("taquilla.try", "1");
    store.removeItem("taquilla.try");
    return store;
  } catch {
    return null;
  }
})();
const loose = new Map();

// Whether anything outlives this page; a browser may forbid it.
export const keepsAnything = kept !== null;

function read(name) {
  const text = kept ? kept.getItem(name) : loose.get(name);
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

function write(name, value) {
  const text = value === null ? null : JSON.stringify(value);
  if (!kept) text === null ? loose.delete(name) : loose.set(name, text);
  else text === null ? kept.removeItem(name) : kept.setItem(name, text);
}

// A random name that nobody guesses: 24 bytes as 32 letters.
export function secret() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

export const account = {
  read: () => read("taquilla.account"),
  write: (value) => write("taquilla.account", value),
};

// A key of another device that is being used: {key, next}, until somebody has decided.
export const moving = {
  read: () => read("taquilla.moving"),
  write: (value) => write("taquilla.moving", value),
};

// Everything that could tell who was here: the account, this browser's secret, the sales.
export function forgetAll() {
  const mine = (name) => /^taquilla\.(account|moving|session|(sale|code)\..*)$/.test(name);
  for (const name of kept ? Object.keys(kept).filter(mine) : []) kept.removeItem(name);
  loose.clear();
}

export const language = {
  read: () => read("taquilla.language"),
  write: (value) => write("taquilla.language", value),
};

// The secret of this browser at waiting rooms: the same in all its tabs.
export function session() {
  const known = read("taquilla.session");
  if (typeof known === "string" && /^[A-Za-z0-9_-]{16,128}$/.test(known)) return known;
  const fresh = secret();
  write("taquilla.session", fresh);
  return fresh;
}

// The sale of one event: {intent, hold, order_id, prices, …}; written before each call that changes something.
export const saleOf = (eventId) => ({
  read: () => read(`taquilla.sale.${eventId}`) ?? {},
  write: (value) => write(`taquilla.sale.${eventId}`, value),
});

// The code that raises the limit of an event.
export const codeOf = (eventId) => ({
  read: () => read(`taquilla.code.${eventId}`) ?? "",
  write: (value) => write(`taquilla.code.${eventId}`, value || null),
});

// Whether this tab is to take the event from another one when it is loaded next.
export const takesTab = {
  set() {
    try {
      sessionStorage.setItem("taquilla.takes-tab", "1");
    } catch {
      // then it asks again
    }
  },
  take() {
    try {
      const is = sessionStorage.getItem("taquilla.takes-tab") === "1";
      sessionStorage.removeItem("taquilla.takes-tab");
      return is;
    } catch {
      return false;
    }
  },
};

// One tab at a time works on an event. Calls `lost` when another tab takes over; returns whether this one has it. Tabs that
// keep nothing have nothing in common, and each its own account.
export async function onlyTab(eventId, lost, {steal = false} = {}) {
  if (!navigator.locks || !kept) return true;
  const name = `taquilla.event.${eventId}`;
  const take = (options) => new Promise((resolve) => {
    let has = false;
    navigator.locks
      .request(name, options, (lock) => {
        has = lock !== null;
        resolve(has);
        return has ? new Promise(() => {}) : undefined;
      })
      .catch(() => {
        resolve(false);
        if (has) lost(); // nobody lets go of it by himself: it was stolen
      });
  });
  if (steal) return take({steal: true});
  // A reload: the page before this one may still be on its way out.
  return (await take({ifAvailable: true})) || take({signal: AbortSignal.timeout(700)});
}
