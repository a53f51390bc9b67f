/* Light, dark, or what the system says.
 *
 *   themeButton()   a button that goes through the three; the choice is kept in this browser
 */

import { el } from "./dom.js";

const NAMES = { auto: "◐ system", light: "○ light", dark: "● dark" };
const KEY = "byteloom-theme";

function kept() {
  try {
    const name = localStorage.getItem(KEY);
    return Object.hasOwn(NAMES, name) ? name : "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

export function themeButton() {
  let now = kept();
  const button = el("button", { type: "button", id: "theme", on: { click: next } });
  function next() {
    const names = Object.keys(NAMES);
    now = names[(names.indexOf(now) + 1) % names.length];
    try {
      localStorage.setItem(KEY, now);
    } catch {
      // then it holds for this visit
    }
    show();
  }
  function show() {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    button.textContent = NAMES[now];
    button.setAttribute("aria-label", `colours: ${NAMES[now].slice(2)}`);
  }
  show();
  return button;
}
