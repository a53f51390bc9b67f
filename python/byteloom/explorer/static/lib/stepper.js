/* A slider with play, back and forward, for whatever goes step by step.
 *
 *   stepper({ label, count, value?, say?, onStep, speed? })
 *     count:  the number of positions, 0 … count - 1
 *     value:  where it begins (default 0)
 *     say:    (i) => "what step i is", shown beside the slider and read out
 *     onStep: (i) is called when the position changes; not for the first one
 *   returns a node with `node.stepper = { go(i), toggle(), value() }`
 *
 * Keys: ←/→ one step, Home/End, space plays and stops; also when the focus is anywhere on the stage outside a field.
 */

import { el } from "./dom.js";

export function stepper({ label, count, value = 0, say = (i) => `${i + 1} of ${count}`, onStep, speed = 700 }) {
  const last = Math.max(0, count - 1);
  let now = Math.max(0, Math.min(last, value));
  let timer = null;
  const slider = el("input", { type: "range", min: 0, max: last, step: 1, "aria-label": label });
  const words = el("output", { class: "says", "aria-live": "polite" });
  const play = el("button", { type: "button", on: { click: () => toggle() } });
  const button = (text, name, step) => el("button", { type: "button", "aria-label": name, on: { click: () => { stop(); go(now + step); } } }, text);

  function show() {
    slider.value = now;
    slider.setAttribute("aria-valuetext", say(now));
    words.textContent = say(now);
    play.textContent = timer ? "❚❚ stop" : "▶ play";
  }
  function go(to) {
    const next = Math.max(0, Math.min(last, Math.round(to)));
    if (next !== now) {
      now = next;
      onStep?.(now);
    }
    show();
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }
  function toggle() {
    if (timer) return stop();
    if (now === last) go(0);
    timer = setInterval(() => {
      if (!node.isConnected || now >= last) stop();
      else go(now + 1);
      if (now >= last) stop();
    }, speed);
    show();
  }
  slider.addEventListener("input", () => { const to = Number(slider.value); stop(); go(to); });
  const node = el("div", { class: "stepper", role: "group", "aria-label": label, data: { stepper: "" } },
    button("◀", "one step back", -1), play, button("▶", "one step forward", 1), slider, words);
  node.stepper = { go: (i) => { stop(); go(i); }, step: (by) => { stop(); go(now + by); }, toggle, value: () => now };
  show();
  return node;
}
