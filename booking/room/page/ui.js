// Building the document: elements from values, never from text that could be markup.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "className" || name === "value" || name === "checked" || name === "disabled" || name === "htmlFor") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A name that somebody typed: kept apart from the direction of the text around it.
export const named = (text) => h("bdi", {}, text);

// A button that runs one thing at a time: it is off while its act runs.
export function button(words, act, {className = "", ...more} = {}) {
  const element = h("button", {type: "button", className, ...more}, words);
  element.addEventListener("click", async () => {
    if (element.getAttribute("aria-disabled") === "true") return;
    element.setAttribute("aria-disabled", "true");
    try {
      await act();
    } finally {
      element.removeAttribute("aria-disabled");
    }
  });
  return element;
}

let lastNews = "";

// Tell people who cannot see the page; the same words are not told twice.
export function tell(text, {urgent = false} = {}) {
  if (text === lastNews) return;
  lastNews = text;
  document.getElementById(urgent ? "alert" : "news").textContent = text;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
