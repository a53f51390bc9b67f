/* Pipeline: a text through every stage to what a model receives, and back. */

import { chip, strip } from "../lib/chips.js";
import { el, fill, svg } from "../lib/dom.js";
import { lazy, part } from "../lib/parts.js";
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
      "so most of these bytes stay tokens of their own; every one of them has an id, and stage 7 gives the same text back.",
  },
  {
    id: "words",
    title: "A known word, a new word, another script",
    setup: { text: "The weavers don't know the lowest thread.", tokenizer: "built-in, English" },
    look: "Compare the three words below the stages. The word from the training text is one token. The new word becomes several, which were " +
      "learned from other words. The script that the training text did not have becomes single bytes: many tokens, but none is unknown, and all three words are decoded exactly.",
  },
  {
    id: "first-stage",
    title: "Where the tokenizer stands in a model",
    setup: { text: "the thread and the thread", tokenizer: "built-in, English" },
    look: "The tokenizer does stages 1 to 5, and stage 7 on the way back. The model between them " +
      "sees only rows of numbers. At stage 6 the same word has the same row both times it occurs.",
  },
];

const STAGES = ["text", "pre-tokens", "bytes", "tokens", "ids", "what a model receives", "back to text"];
const LAST = STAGES.length - 1;
const ROLES = { known: "A word of one token", new: "A new word", script: "A script it did not learn" };
const DRAWN = 12; // rows of the table that are drawn
const CELLS = 14;
const SHOWN = 600; // code units of the text at its own stage
const PREVIEW = 20; // pre-tokens whose stages stand in the list

const style = new CSSStyleSheet();
style.replaceSync(`
.stage-list { list-style: none; margin: .4rem 0 .8rem; padding: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
.stage-list li + li { border-top: 1px solid var(--line); }
.stage-list button { display: grid; grid-template-columns: 1.7rem 12.5rem 8.5rem minmax(0, 1fr); gap: 0 .7rem; align-items: baseline; width: 100%; min-height: 2.2rem; padding: .25rem .7rem; border: 0; border-left: 4px solid transparent; border-radius: 0; background: none; text-align: left; }
.stage-list button:hover { background: var(--ground); } .stage-list .now button { border-left-color: var(--accent); background: var(--s0); } .stage-list .now .stage-title { font-weight: 600; }
.stage-number { color: var(--soft); font-variant-numeric: tabular-nums; text-align: center; border: 1px solid var(--edge); border-radius: 50%; width: 1.6rem; line-height: 1.5rem; font-size: .85rem; background: var(--panel); } .now .stage-number { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 700; }
.stage-amount { color: var(--soft); font-size: .88rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.stage-seen { overflow: hidden; white-space: nowrap; font: .88rem/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; mask-image: linear-gradient(90deg, #000 calc(100% - 3rem), transparent); unicode-bidi: isolate; } .stage-seen b { font-weight: 400; color: var(--edge); padding: 0 .28rem; }
.stage-list .model { padding: .25rem .7rem .25rem 3.4rem; color: var(--soft); font-size: .88rem; border-top-style: dashed; }
@media (max-width: 40rem) { .stage-list button { grid-template-columns: 1.7rem minmax(0, 1fr) auto; } .stage-seen { grid-column: 2 / -1; } .stage-list .model { padding-left: 3.1rem; } }
.pieces { display: flex; flex-wrap: wrap; gap: .4rem; margin: .6rem 0; align-items: flex-start; unicode-bidi: isolate; }
.piece { display: flex; flex-direction: column; gap: .1rem; align-items: flex-start; padding: .2rem .3rem; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); max-width: 100%; }
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

const kept = {};

function build() {
  kept.list = el("ol", { class: "stage-list", id: "stages", "aria-label": "The seven stages" });
  kept.heading = el("h2", { id: "stage-name" });
  kept.words = el("p", { id: "stage-words" });
  kept.pieces = el("div");
  kept.after = el("div", { class: "below" });
  kept.table = lazy("all stages as a table", () => twin(kept.ctx.records));
  kept.compared = el("div", { class: "side-by-side", id: "words" });
  kept.steps = stepper({
    label: "Stage", count: STAGES.length, value: kept.stage,
    say: (stage) => `${stage + 1} of ${STAGES.length}: ${STAGES[stage]}`,
    onStep: (stage) => { kept.stage = stage; draw(); kept.ctx.remember({ stage }); },
  });
  kept.node = [kept.list, kept.steps, kept.heading, kept.words, kept.pieces, kept.after, kept.table,
    el("section", { class: "below" }, el("h2", null, "Three words compared"), kept.compared)];
}

function draw() {
  const { ctx, stage } = kept;
  const { records } = ctx;
  part(kept.list, [stage, records.counts, records.model.width, records.decoded, preview(records)], () => overview(ctx, stage));
  kept.heading.textContent = `Stage ${stage + 1}: ${STAGES[stage]}`;
  kept.words.textContent = sentence(stage, ctx);
  if (stage === 0) part(kept.pieces, [ctx.text.slice(0, SHOWN + 1), records.counts.characters], () => plainText(ctx.text));
  else part(kept.pieces, [Math.min(stage, 4), records.pretokens, records.tokens, records.left_out], () => blocks(Math.min(stage, 4), records));
  part(kept.after, [stage, stage >= 5 && [records.tokens, records.model], records.decoded], () => [stage >= 5 && embedding(records), stage >= LAST && back(ctx)]);
}

export function render(root, ctx) {
  kept.ctx = ctx;
  const wanted = Number(ctx.view.stage ?? 0);
  kept.stage = Number.isInteger(wanted) ? Math.max(0, Math.min(LAST, wanted)) : 0;
  if (!kept.node) build();
  if (kept.list.parentNode !== root) fill(root, kept.node);
  if (kept.steps.stepper.value() !== kept.stage) kept.steps.stepper.go(kept.stage);
  draw();
  lazy.update(kept.table, () => twin(ctx.records));
  part(kept.compared, [ctx.records.words, ctx.live], () => comparison(ctx));
}

/* Every stage in a line of its own: how much there is, and how it begins. */

const preview = (records) => records.pretokens.slice(0, PREVIEW);

function overview(ctx, stage) {
  const { counts, model, decoded, pretokens, tokens: all } = ctx.records;
  const first = preview(ctx.records);
  const tokens = all.slice(0, first.at(-1)?.tokens[1] ?? 0);
  const cut = (pieces) => pieces.flatMap((piece, i) => (i > 0 ? [el("b", { "aria-hidden": "true" }, "|"), piece] : [piece]));
  const text = (pieces) => pieces.map((piece) => visibleBytes(piece.bytes));
  const more = pretokens.length > first.length || ctx.records.left_out.pretokens > 0 ? " …" : "";
  const rows = [
    [plural(counts.characters, "character"), visibleBytes(first.map((piece) => piece.bytes).join("")).replaceAll("·", " ")],
    [plural(counts.pretokens, "pre-token"), cut(text(first))],
    [plural(counts.bytes, "byte"), hex(first.map((piece) => piece.bytes).join("").slice(0, 160))],
    [plural(counts.tokens, "token"), cut(text(tokens))],
    [plural(counts.tokens, "id"), tokens.map((token) => token.id).join(" ")],
    [plural(counts.tokens, "row"), tokens.length > 0 ? [`table rows ${tokens.slice(0, 12).map((token) => token.id).join(", ")}${counts.tokens > 12 ? " …" : ""}, each ${plural(model.width, "number")}`] : ""],
    [plural(decoded.byte_count, "byte"), decoded.same ? "✓ the same text" : "✗ another text"],
  ];
  const line = ([amount, seen], place) => el("li", { class: place === stage && "now" },
    el("button", { type: "button", id: `stage-${place + 1}`, "aria-current": place === stage ? "step" : null, on: { click: () => kept.steps.stepper.go(place) } },
      el("span", { class: "stage-number" }, String(place + 1)), el("span", { class: "stage-title" }, STAGES[place]),
      el("span", { class: "stage-amount" }, amount), el("bdi", { class: "stage-seen" }, seen, place < 5 && more)));
  return [...rows.slice(0, LAST).map(line),
    el("li", { class: "model" }, "The model (not here): transformer → a probability for each id → the next id, and again"),
    line(rows[LAST], LAST)];
}

function sentence(stage, { records, strip: figures, tokenizer }) {
  const { counts, model } = records;
  return [
    `${plural(counts.characters, "character")}, as a person types them. Below, each stage is drawn under the one before; step through them with the buttons or the arrow keys.`,
    `A pattern (a regular expression) cuts the text into ${plural(counts.pretokens, "pre-token")}: pieces of about one word. Tokens are made inside a pre-token, so no token spans a cut.`,
    figures.unknown_bytes > 0
      ? `UTF-8 writes the text in ${plural(counts.bytes, "byte")}. This tokenizer begins with characters, and ${plural(figures.unknown_bytes, "byte")} belong to characters that it does not have.`
      : `UTF-8 writes the text in ${plural(counts.bytes, "byte")}, each a number from 0 to 255. Every byte value has a token, so nothing is unknown.`,
    `A merge is a rule from training: this pair of neighbours becomes one token. Inside each pre-token the merge that was learned first is applied first, until none applies: ${plural(counts.tokens, "token")} remain.`,
    `Each token has a number, its id: from 0 to ${count(model.rows - 1)} in ${tokenizer.name}.`,
    `A model never sees text. Each id selects a row of ${plural(model.width, "number")} from a table of ${count(model.rows)} rows, the embedding table: ${count(model.numbers)} numbers to learn. The same id always selects the same row.`,
    "Each id stands for its bytes. All of them in order, read as UTF-8, are a text again.",
  ][stage];
}

function plainText(text) {
  const chars = Array.from(text.slice(0, SHOWN));
  const rest = text.length - chars.join("").length;
  return text.length === 0 ? el("p", { class: "soft" }, "There is no text yet.")
    : el("pre", { id: "pieces", dir: "auto", "aria-label": STAGES[0] }, chars.join(""), rest > 0 && el("span", { class: "rest" }, " …"));
}

function blocks(stage, records) {
  const { pretokens, tokens, left_out: leftOut } = records;
  if (pretokens.length === 0) return el("p", { class: "soft" }, "There is no text yet.");
  const made = pretokens.map((pretoken) => el("div", { class: "piece" },
    chip(pretoken, { kind: "plain", title: pretoken.category }),
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
    el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": label }, svg("svg", { viewBox: `0 0 640 ${height}`, role: "img", "aria-label": label },
      svg("text", { x: 26, y: 14, class: "soft" }, "row 0"), svg("rect", { class: "frame", x: 26, y: 24, width: 40, height: bottom - 24 }),
      svg("text", { x: 26, y: height - 1, class: "soft" }, `row ${count(model.rows - 1)}`),
      svg("text", { x: 204, y: 14, class: "soft" }, "id"), svg("text", { x: 246, y: 14, class: "soft" }, "token"), svg("text", { x: 352, y: 14, class: "soft" }, `its row: ${plural(model.width, "number")}`),
      rows)),
    el("p", { class: "note" }, "Each shade stands for a number. The shades are invented from the id: before training a table holds random numbers, and training finds the right ones."));
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
  return table({
    caption: "Pre-tokens, bytes, tokens and ids", rows, limit: 50, sortable: false,
    columns: [{ key: "piece", title: "pre-token" }, { key: "category", title: "matched as" }, { key: "bytes", title: "bytes" }, { key: "tokens", title: "tokens" }, { key: "ids", title: "ids" }],
  });
}

function comparison(ctx) {
  return ctx.records.words.map((word) => el("section", { class: "panel", data: { role: word.role } },
    el("h3", null, ROLES[word.role]),
    el("input", { type: "text", id: `word-${word.role}`, value: word.text, maxlength: 40, dir: "auto", spellcheck: "false", autocomplete: "off", readonly: !ctx.live, "aria-label": ROLES[word.role], on: { change: (event) => kept.ctx.set({ [word.role]: event.target.value }) } }),
    strip(word.tokens.map((token) => chip(token, { kind: kind(token), shade: token.index, sub: String(token.id), title: `id ${token.id}` })), { label: `Tokens of ${word.text}` }),
    facts([["characters", count(word.characters)], ["bytes", count(word.byte_count)], ["tokens", count(word.tokens.length)], ["unknown", count(word.unknown)], ["decoded", word.same ? "✓ the same" : "✗ changed"]])));
}

export default { id: "pipeline", title: "Pipeline", about: "One text through every stage, from characters to what a model receives, and back.", options, cards, render, keeps: true };
