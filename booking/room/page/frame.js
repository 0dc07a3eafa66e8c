// What is around every view: the language, what is wrong with the lines, the title of the tab.

import * as memory from "./memory.js";
import {NoAnswer} from "./net.js";
import {button, h, setText} from "./ui.js";
import {LANGUAGES, number, say, speak, spoken} from "./words.js";

// `redraw()`: the view is drawn anew in another language.
export function drawFrame(redraw) {
  const choice = document.getElementById("language");
  choice.replaceChildren(...Object.entries(LANGUAGES).map(([code, name]) => h("option", {value: code, lang: code}, name)));
  choice.value = spoken();
  choice.onchange = async () => {
    memory.language.write(choice.value);
    if (memory.keepsAnything) return location.reload();
    await speak(choice.value);
    drawFrame(redraw);
    redraw();
  };
  setText(document.getElementById("language-label"), say("language"));
  setText(document.getElementById("skip"), say("skip"));
  setText(document.querySelector(".home span"), say("brand"));
}

// One line above everything: what does not answer, and that nothing is lost by it.
export function showTrouble(app) {
  const words = app.isElsewhereTab ? ""
    : !navigator.onLine ? say("trouble.offline")
    : app.sale?.trouble ? say("trouble.asking")
    : app.away ? say("trouble.room")
    : app.bookingAway ? say(app.bookingAway instanceof NoAnswer ? "trouble.booking" : "trouble.busy")
    : memory.keepsAnything ? "" : say("trouble.no-memory");
  setText(document.getElementById("trouble"), words);
}

// A tab that is not looked at tells by its title how far it is.
export function showTitle(app, view) {
  const ahead = view === "waiting" && app.status?.ahead != null ? `(${number(app.status.ahead)}) ` : "";
  const title = (view === "pick" && app.notice ? "● " : ahead) + (app.event?.name ?? say("title"));
  if (document.title !== title) document.title = title;
}

// What nobody foresaw. Before there is a view, and so before there are words, it is said in all languages.
export function report(error) {
  console.error(error);
  const main = document.getElementById("main");
  if (main.dataset.view) return;
  const words = "Something went wrong. / حدث خطأ. / エラーが発生しました。 / Algo correu mal.";
  main.replaceChildren(h("p", {role: "alert"}, words), button("↻", () => location.reload()));
}
