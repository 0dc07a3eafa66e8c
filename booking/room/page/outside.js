// Scripts of others that the operator has named: a bot check, Stripe's card form. Loaded once; again when it failed.

import {pause, scriptUrl} from "./time.js";

const LOADS_WITHIN_MS = 20000;
const loading = new Map();

export function loadScript(url) {
  const known = loading.get(url);
  if (known) return known;
  const script = document.createElement("script");
  const loaded = new Promise((resolve, reject) => {
    script.src = scriptUrl(url);
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${url} does not load`));
    document.head.append(script);
  });
  const done = inTime(loaded);
  loading.set(url, done);
  done.catch(() => {
    loading.delete(url);
    script.remove();
  });
  return done;
}

// What is not there in time has failed.
export function inTime(promise, ms = LOADS_WITHIN_MS) {
  return Promise.race([promise, pause(ms).then(() => Promise.reject(new Error("no answer in time")))]);
}

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
