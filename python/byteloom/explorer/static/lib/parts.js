/* Parts of a picture that are drawn only when they must be: a key changes little of it.
 *
 *   part(node, what, draw)     fills the node with draw(), unless it shows the same `what` already; returns the node
 *   lazy(summary, draw)        a <details> that is drawn when it is opened; returns the node
 *     lazy.update(node, draw)  another thing to draw: at once where it is open, or else when it is opened
 *
 * These are for a tab whose parts stay where they are. Where the list of parts changes, see `memo` and `settle` of dom.js.
 */

import { el, fill } from "./dom.js";

const shown = new WeakMap();

export function part(node, what, draw) {
  const key = JSON.stringify(what);
  if (shown.get(node) !== key) {
    shown.set(node, key);
    fill(node, draw());
  }
  return node;
}

const draws = new WeakMap();

export function lazy(summary, draw) {
  const inside = el("div");
  const node = el("details", { class: "twin" }, el("summary", null, summary), inside);
  draws.set(node, { draw, inside, stale: true });
  node.addEventListener("toggle", () => show(node));
  return node;
}

function show(node) {
  const state = draws.get(node);
  if (!node.open || !state.stale) return;
  state.stale = false;
  fill(state.inside, state.draw());
}

lazy.update = (node, draw) => {
  Object.assign(draws.get(node), { draw, stale: true });
  show(node);
};
