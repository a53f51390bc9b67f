/* Pipeline: a text through every stage to what a model receives, and back. */

import { chip, strip } from "../lib/chips.js";
import { el, fill, svg } from "../lib/dom.js";
import { count, plural, visibleBytes } from "../lib/signs.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const options = { width: 768, known: "", new: "", script: "" };

export const cards = [
  {
    id: "stages",
    title: "Follow a character to its ids",
    setup: { text: "naïve ☕ 你好", tokenizer: "built-in, English" },
    look: "Step through the stages. ï becomes 2 bytes, ☕ and each Chinese character 3. This tokenizer learned from English, " +
      "so most of these bytes stay tokens of their own; every one of them has an id, and the last stage gives the same text back.",
  },
  {
    id: "words",
    title: "A word it knows, a new word, a strange script",
    setup: { text: "The weavers don't know the lowest thread.", tokenizer: "built-in, English" },
    look: "Compare the three words at the end. The known word is one token. The new one falls into pieces that other words " +
      "left behind. The script that training never saw falls into single bytes: long, but nothing is unknown, and all three come back.",
  },
  {
    id: "first-stage",
    title: "Where the tokenizer stands in a model",
    setup: { text: "the thread and the thread", tokenizer: "built-in, English" },
    look: "The line of boxes is the whole way. The tokenizer is the first stage and, on the way back, the last; all between them " +
      "sees only rows of numbers. At stage 6 the same word has the same row both times it comes.",
  },
];

const STAGES = ["text", "pre-tokens", "bytes", "tokens", "ids", "what a model receives", "back to text"];
const FLOW = [
  ["text", 0], ["pre-tokens", 1], ["bytes", 2], ["tokens", 3], ["ids", 4], ["rows of the table", 5],
  ["transformer", null], ["a chance for each id", null], ["next id", null], ["bytes, text", 6],
];
const ROLES = { known: "A word it knows", new: "A new word", script: "A strange script" };
const DRAWN = 12; // rows of the table that are drawn
const CELLS = 14;

const style = new CSSStyleSheet();
style.replaceSync(`
.flow { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem 1.3rem; padding: 0; margin: .4rem 0; font-size: .88rem; }
.flow li { position: relative; padding: .1rem .5rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--panel); }
.flow li.model { border-style: dashed; color: var(--soft); }
.flow li.now { border-color: var(--accent); border-width: 2px; font-weight: 600; }
.flow li:not(:last-child)::after { content: "→"; position: absolute; right: -1.15rem; color: var(--soft); font-weight: 400; }
.pieces { display: flex; flex-wrap: wrap; gap: .4rem; margin: .6rem 0; align-items: flex-start; unicode-bidi: isolate; }
.piece { display: flex; flex-direction: column; gap: .1rem; align-items: flex-start; padding: .2rem .3rem; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); max-width: 100%; }
.piece.whole { border-color: transparent; background: none; padding: 0 1px; }
.piece .hex { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .8rem; color: var(--soft); word-spacing: -.15em; }
.piece .strip { margin: 0; line-height: 1.7; }
.piece .chip { font-size: .9rem; }
.embedding { margin: 1rem 0; }
.embedding svg { display: block; width: 100%; min-width: 32rem; max-width: 44rem; height: auto; font-size: 12px; }
.embedding text { fill: var(--ink); }
.embedding .soft { fill: var(--soft); }
.embedding .frame { fill: none; stroke: var(--edge); }
.embedding .way { fill: none; stroke: var(--edge); }
.embedding .cell { fill: var(--l0); }
#words { grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); }
#words h3 { margin-top: 0; }
#words input { width: 100%; }
#words .facts { grid-template-columns: 1fr; }
`);
document.adoptedStyleSheets.push(style);

export function render(root, ctx) {
  const { records } = ctx;
  const last = STAGES.length - 1;
  const begin = Math.max(0, Math.min(last, ctx.view.stage ?? 5));
  const flow = el("ol", { class: "flow", "aria-label": "The way of a text through a language model" });
  const heading = el("h2", { id: "stage-name" });
  const words = el("p", { id: "stage-words" });
  const picture = el("div");

  function draw(stage) {
    fill(flow, FLOW.map(([name, place]) => el("li", { class: [place === null && "model", place === stage && "now"], "aria-current": place === stage ? "step" : null }, name)));
    heading.textContent = `Stage ${stage + 1}: ${STAGES[stage]}`;
    words.textContent = sentence(stage, ctx);
    fill(picture, blocks(Math.min(stage, 4), records), stage >= 5 && embedding(records), stage >= 6 && back(ctx));
  }

  const steps = stepper({
    label: "Stage", count: STAGES.length, value: begin,
    say: (stage) => `${stage + 1} of ${STAGES.length}: ${STAGES[stage]}`,
    onStep: (stage) => { draw(stage); ctx.remember({ stage }); },
  });
  draw(begin);
  fill(root, flow, steps, heading, words, picture, twin(records), comparison(ctx));
}

function sentence(stage, { records, strip: figures, tokenizer }) {
  const { counts, model } = records;
  return [
    `${plural(counts.characters, "character")}, as a person types them.`,
    `The pattern cuts the text into ${plural(counts.pretokens, "pre-token")}. No token will reach over a cut.`,
    figures.unknown_bytes > 0
      ? `UTF-8 writes the text in ${plural(counts.bytes, "byte")}. This tokenizer begins with characters, and ${plural(figures.unknown_bytes, "byte")} belong to characters that it does not have.`
      : `UTF-8 writes the text in ${plural(counts.bytes, "byte")}, each a number from 0 to 255. Every byte value has a token, so nothing is unknown.`,
    `Merges join bytes inside each pre-token, the pair learned first before all others: ${plural(counts.tokens, "token")} are left.`,
    `Each token has a number, its id: from 0 to ${count(model.rows - 1)} in ${tokenizer.name}.`,
    `The model never sees text. An id picks a row of ${plural(model.width, "number")} from a table of ${count(model.rows)} rows: ${count(model.numbers)} numbers to learn. The same id is always the same row.`,
    "Each id stands for its bytes. One after another, and read as UTF-8, they are a text again.",
  ][stage];
}

function blocks(stage, records) {
  const { pretokens, tokens, left_out: leftOut } = records;
  if (pretokens.length === 0) return el("p", { class: "soft" }, "There is no text yet.");
  const made = pretokens.map((pretoken) => el("div", { class: ["piece", stage === 0 && "whole"] },
    chip(pretoken, { kind: "plain", title: stage > 0 ? pretoken.category : null }),
    stage >= 2 && el("span", { class: "hex" }, hex(pretoken.bytes)),
    stage >= 3 && el("div", { class: "strip" }, tokens.slice(...pretoken.tokens).map((token) =>
      chip(token, { kind: kind(token), shade: token.index, sub: stage >= 4 ? String(token.id) : undefined, title: `token ${token.index + 1}, id ${token.id}` })))));
  return el("div", { class: "pieces", id: "pieces", role: "group", "aria-label": STAGES[stage] }, made,
    leftOut.pretokens > 0 && el("span", { class: "rest" }, `and ${plural(leftOut.pretokens, "more pre-token")}, ${plural(leftOut.tokens, "more token")}`));
}

const kind = (token) => (token.kind === "added" || token.kind === "special" ? "special" : "token");
const hex = (bytes) => bytes.toUpperCase().replace(/../g, "$& ").trim();

/* Where the rows of the first tokens are in the table, and the rows one below another, as the model gets them. */
function embedding(records) {
  const { model, tokens } = records;
  const drawn = tokens.slice(0, DRAWN);
  const line = 22;
  const height = Math.max(6, drawn.length) * line + 34;
  const bottom = height - 12;
  const place = (id) => 24 + ((bottom - 24) * id) / Math.max(1, model.rows - 1);
  const rows = drawn.map((token, number) => {
    const y = 24 + number * line;
    return [
      svg("path", { class: "way", d: `M66 ${place(token.id).toFixed(1)}C140 ${place(token.id).toFixed(1)} 120 ${y + 8} 196 ${y + 8}` }),
      svg("line", { class: "way", x1: 26, x2: 66, y1: place(token.id).toFixed(1), y2: place(token.id).toFixed(1) }),
      svg("text", { x: 204, y: y + 12, class: "soft" }, String(token.id)),
      svg("text", { x: 246, y: y + 12 }, clipped(visibleBytes(token.bytes))),
      cells(token.id, 352, y),
      svg("text", { x: 352 + CELLS * 18 + 6, y: y + 12, class: "soft" }, "…"),
    ];
  });
  const label = `The table of ${count(model.rows)} rows, and the rows of the first ${plural(drawn.length, "token")}`;
  return el("figure", { class: "embedding", id: "embedding" }, el("figcaption", null, el("strong", null, label)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, svg("svg", { viewBox: `0 0 640 ${height}`, role: "img", "aria-label": label },
      svg("text", { x: 26, y: 14, class: "soft" }, "row 0"), svg("rect", { class: "frame", x: 26, y: 24, width: 40, height: bottom - 24 }),
      svg("text", { x: 26, y: height - 1, class: "soft" }, `row ${count(model.rows - 1)}`),
      svg("text", { x: 204, y: 14, class: "soft" }, "id"), svg("text", { x: 246, y: 14, class: "soft" }, "token"), svg("text", { x: 352, y: 14, class: "soft" }, `its row: ${plural(model.width, "number")}`),
      rows)),
    el("p", { class: "note" }, "Shades stand for numbers. They are drawn by chance, as a table is before training; what the numbers should be is what the model learns."));
}

const clipped = (text) => (Array.from(text).length > 11 ? `${Array.from(text).slice(0, 10).join("")}…` : text);

/* Shades that depend on the id alone. */
function cells(id, x, y) {
  let state = (id + 1) * 2654435761;
  return Array.from({ length: CELLS }, (_, i) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + i) >>> 0;
    return svg("rect", { class: "cell", x: x + i * 18, y, width: 16, height: 16, opacity: (0.08 + ((state >>> 8) % 1000) / 1100).toFixed(2) });
  });
}

function back({ records }) {
  const { decoded } = records;
  return el("p", { id: "back", class: decoded.same ? "good" : "bad" }, decoded.same
    ? `✓ Decoding the ids gives the same ${plural(decoded.byte_count, "byte")} back.`
    : "✗ Decoding gives another text: this tokenizer changes or loses a part of it.");
}

function twin(records) {
  const rows = records.pretokens.map((pretoken) => {
    const tokens = records.tokens.slice(...pretoken.tokens);
    return { piece: visibleBytes(pretoken.bytes), category: pretoken.category, bytes: hex(pretoken.bytes), tokens: tokens.map((token) => visibleBytes(token.bytes)).join(" | "), ids: tokens.map((token) => token.id).join(" ") };
  });
  return el("details", null, el("summary", null, "as a table"), table({
    caption: "Pre-tokens, bytes, tokens and ids", rows, limit: 50, sortable: false,
    columns: [{ key: "piece", title: "pre-token" }, { key: "category", title: "matched as" }, { key: "bytes", title: "bytes" }, { key: "tokens", title: "tokens" }, { key: "ids", title: "ids" }],
  }));
}

function comparison(ctx) {
  const boxes = ctx.records.words.map((word) => el("section", { class: "panel", data: { role: word.role } },
    el("h3", null, ROLES[word.role]),
    el("input", { type: "text", id: `word-${word.role}`, value: word.text, maxlength: 40, dir: "auto", spellcheck: "false", autocomplete: "off", readonly: !ctx.live, "aria-label": ROLES[word.role], on: { change: (event) => ctx.set({ [word.role]: event.target.value }) } }),
    strip(word.tokens.map((token) => chip(token, { kind: kind(token), shade: token.index, sub: String(token.id), title: `id ${token.id}` })), { label: `Tokens of ${word.text}` }),
    facts([["characters", count(word.characters)], ["bytes", count(word.byte_count)], ["tokens", count(word.tokens.length)], ["unknown", count(word.unknown)], ["comes back", word.same ? "✓ the same" : "✗ changed"]])));
  return [el("h2", null, "Three words side by side"), el("div", { class: "side-by-side", id: "words" }, boxes)];
}

export default { id: "pipeline", title: "Pipeline", about: "One text through every stage, from characters to what a model receives, and back.", options, cards, render };
