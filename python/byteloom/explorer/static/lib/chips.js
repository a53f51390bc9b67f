/* Tokens, pre-tokens and bytes as chips: an outline shows where each begins and ends, colour only helps.
 *
 *   chip(what, options?)         one chip
 *     what:     { text } or { bytes: "e298" } (hex; wins where both are there)
 *     options:  { shade: 0-7, kind: "token" | "special" | "plain" | "off" | "on", label: "id 300", sub: "300" (small line
 *                 below), inspect: () => node or f(), pressed: bool, title, class }
 *               with `inspect` or `on` it is a button that the keyboard reaches
 *   strip(chips, options?)       a list of chips that wraps, isolated from the direction of the page
 *     chips:    nodes of `chip`, or functions that make one (better for many: the first are drawn at once, about a screen
 *               of them, the rest in pieces when no key is pressed)
 *     options:  { label: "what the list is", limit: 2000, more: "tokens", keys: true, first: 120 }; more than `limit` are not
 *               drawn but counted. With keys (default) a strip of buttons is one stop for Tab, and ←/→, Home and End move
 *               inside. While pieces are missing the strip has `data-pending`, and the height that it had the last time.
 *   legend([{ label, shade, kind }])   what the colours mean, in words
 */

import { el } from "./dom.js";
import { whenIdle } from "./idle.js";
import { byteRuns, count, runs } from "./signs.js";

const RUN_TAG = { text: "span", sign: "i", bytes: "b" };

export function signNodes(what) {
  const parts = what.bytes !== undefined && what.bytes !== null ? byteRuns(what.bytes) : runs(what.text ?? "");
  return parts.length === 1 && parts[0].kind === "text" ? [parts[0].text] : parts.map((run) => el(RUN_TAG[run.kind], null, run.text));
}

export function chip(what, options = {}) {
  const { shade, kind = "token", label, sub, inspect, on, pressed, title } = options;
  const acts = Boolean(inspect || on);
  const node = el(
    acts ? "button" : "span",
    {
      class: ["chip", kind, shade !== undefined && `shade-${shade % 8}`, sub !== undefined && "two", options.class],
      type: acts ? "button" : null,
      title: title ?? label ?? null,
      "aria-pressed": pressed === undefined ? null : String(pressed),
      on: acts ? { ...on, ...(inspect ? { click: inspect } : {}) } : null,
    },
    el("bdi", null, signNodes(what)),
    sub !== undefined && el("small", null, sub),
  );
  return node;
}

const FIRST = 120;
const PIECE = 160;
const IN_LINE = 600; // more stand in blocks, of which the browser lays out only those that can be seen
const heights = new Map(); // of complete strips by their label, so that what stands below does not jump while one fills

export function strip(chips, options = {}) {
  const { label, limit = 2000, more = "more", keys = true, first = FIRST } = options;
  const most = Math.min(chips.length, limit);
  const rest = chips.length - most;
  const node = el("div", { class: ["strip", options.class, most > IN_LINE && "sliced"], role: "group", "aria-label": label ?? null });
  let place = 0;
  function draw(amount) {
    const piece = most > IN_LINE ? el("div", { class: "slice" }) : document.createDocumentFragment();
    for (const end = Math.min(place + amount, most); place < end; place++) {
      const made = typeof chips[place] === "function" ? chips[place](place) : chips[place];
      if (keys && made.tagName === "BUTTON") made.tabIndex = place === 0 ? 0 : -1;
      piece.append(made);
    }
    if (piece.firstChild) node.append(piece);
    if (place < most) {
      node.dataset.pending = "";
      whenIdle(() => { if (node.isConnected) draw(PIECE); });
      return;
    }
    if (rest > 0) node.append(el("span", { class: "rest" }, `and ${count(rest)} ${more}`));
    if (node.dataset.pending === undefined) return;
    delete node.dataset.pending;
    node.style.removeProperty("min-block-size");
    heights.set(label, node.offsetHeight);
  }
  draw(first);
  if (node.dataset.pending !== undefined && heights.has(label)) node.style.setProperty("min-block-size", `${heights.get(label)}px`);
  if (keys) rove(node);
  return node;
}

/* One stop for Tab, arrows inside. */
function rove(node) {
  const buttons = () => Array.from(node.querySelectorAll("button.chip"));
  node.addEventListener("focusin", (event) => {
    const button = event.target.closest("button.chip");
    if (!button) return;
    for (const other of node.querySelectorAll('button.chip[tabindex="0"]')) other.tabIndex = -1;
    button.tabIndex = 0;
  });
  node.addEventListener("keydown", (event) => {
    const button = event.target.closest?.("button.chip");
    if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = buttons();
    const place = all.indexOf(button);
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all[Math.max(0, Math.min(all.length - 1, next))].focus();
  });
}

export function legend(entries) {
  return el("ul", { class: "legend" }, entries.map((entry) => el("li", null, el("span", { class: ["chip", entry.kind ?? "token", entry.shade !== undefined && `shade-${entry.shade % 8}`], "aria-hidden": "true" }, entry.sample ?? " "), " ", entry.label)));
}
