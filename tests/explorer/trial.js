/* A tab for tests of the shell: a bit of everything that tabs use. */

import { chip, legend, strip } from "../lib/chips.js";
import { barChart, lineChart } from "../lib/chart.js";
import { el } from "../lib/dom.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const options = { word: "", fail: false, n: 3 };

export const cards = [
  { id: "ends", title: "Three ends", setup: { text: "low lower lowest" }, look: "the same beginning" },
  { id: "far", title: "Far " + "away", setup: { text: "日本語", options: { n: 4 }, tokenizer: "built-in, 13 languages" }, look: "many bytes" },
  { id: "wrong", title: "Wrong", setup: { options: { fail: true } }, look: "an error in words" },
];

export function render(root, ctx) {
  const { ids, echo } = ctx.records;
  root.append(
    el("div", { class: "controls" },
      el("label", null, "word ", el("input", { id: "word", type: "text", value: ctx.options.word, on: { input: (event) => ctx.set({ word: event.target.value }) } })),
      el("label", null, "fail ", el("input", { id: "fail", type: "checkbox", checked: ctx.options.fail, on: { change: (event) => ctx.set({ fail: event.target.checked }) } }))),
    el("p", { id: "echo" }, echo),
    strip(ids.map((token, place) => () => chip(token, { shade: place, sub: token.id, inspect: () => ctx.inspect(facts([["id", token.id]])) })), { label: "Tokens" }),
    legend([{ label: "letters", shade: 0 }, { label: "control tokens", kind: "special" }]),
    stepper({ label: "Steps", count: 6, value: ctx.view.step ?? 0, speed: 50, say: (step) => `step ${step}`, onStep: (step) => ctx.remember({ step }) }),
    lineChart({ label: "Ids by place", x: { title: "place" }, y: { title: "id" },
      series: [{ name: "id", points: ids.map((token, place) => [place, token.id]) }, { name: "half", points: ids.map((token, place) => [place, token.id / 2]) }],
      marks: [{ y: 100, label: "a line", step: 10, drag: (y) => ctx.set({ n: y }) }] }),
    barChart({ label: "Ids", x: { title: "place" }, y: { title: "id" }, bars: ids.slice(0, 40).map((token, place) => ({ label: String(place), value: token.id })) }),
    table({ caption: "Tokens", columns: [{ key: "id", title: "id", number: true }, { key: "bytes", title: "bytes" }], rows: ids.map((token) => ({ ...token, _inspect: () => ctx.inspect(el("p", null, token.bytes)) })) }));
}

export default { id: "trial", title: "Trial", about: "A tab for tests.", options, cards, render };
