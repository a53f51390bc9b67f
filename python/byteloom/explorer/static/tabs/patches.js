/* Patches: bytes grouped by how hard the next one is to predict, and the three stages of a model that reads them. */

import { barChart, lineChart } from "../lib/chart.js";
import { chip, strip } from "../lib/chips.js";
import { el, fill } from "../lib/dom.js";
import { fields, keep } from "../lib/fields.js";
import { lazy, part } from "../lib/parts.js";
import { count, fromHex, plural, ratio, visibleBytes } from "../lib/signs.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const text = "The oldest weaver walks through the long house in the morning and looks at every loom. She asks at each thread what comes next. " +
  "Where she is sure, she twists the next thread into the piece. Where she is not sure, she makes a cut, and a new piece begins. " +
  "The pieces are long where the cloth is plain, and short where the pattern is strange.";

export const options = {
  rule: "global", theta: 2, rise: 0.5, units: "bits", order: 5, smoothing: "witten-bell", train: "weavers", size: 4, target: 4.5, at: -1,
};

export const cards = [
  {
    id: "patches-low", title: "A threshold near 0",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", theta: 0.05 } },
    look: "Every byte is above the line, so every byte begins a patch: 33 patches of one byte, and a large model would run as often " +
      "as on bytes. Raise the threshold: patches become longer where the columns are low.",
  },
  {
    id: "patches-high", title: "A threshold near the maximum",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", theta: 4.5 } },
    look: "No byte reaches the line: the whole sentence is one patch. The large model runs once, which costs little, but it has to take in 33 bytes " +
      "as one unit. Lower the threshold to 3.2: three patches, which begin at the bytes that were hardest to predict.",
  },
  {
    id: "patches-words", title: "Find where words begin",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", theta: 1.9 } },
    look: "Patches begin at the m of model, the p of predicts and the n of next: which word comes is hard to predict, and once it has begun " +
      "the rest is easy. So odel stays with its m. The last word is cut after its t, because the or text could follow as well; oken stays together.",
  },
  {
    id: "patches-jumps", title: "Cut where the entropy rises",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", rule: "monotonic", rise: 0.5 } },
    look: "Now a patch begins where the entropy rises by more than the threshold from one byte to the next; the line lies on the rises. The h of " +
      "the has a high entropy, but a lower one than the t before it: no patch. The s of predicts has a low entropy, but a much higher one than the t before it: a patch. And token " +
      "stays whole. In a long text the entropy may rise slowly as a whole; a threshold for rises does not depend on that.",
  },
  {
    id: "patches-novel", title: "Uncertain is not the same as wrong",
    setup: { text: "the model ~ZQX~ predicts", options: { train: "models", order: 4, smoothing: "backoff", theta: 2 } },
    look: "After letters that never occurred in its training text the model has nothing to go by: 8 bits, as if all 256 bytes were equally likely. That says that the next " +
      "byte is hard to predict, not that the text is wrong or important. The model was trained before and does not learn here. It only " +
      "counts; a neural model varies more smoothly on new text, and the cut works the same way.",
  },
  {
    id: "patches-target", title: "A threshold for 4.5 bytes",
    setup: { text: "the model reads the text, and the writer writes the text that the model predicts", options: { train: "models", order: 4, smoothing: "backoff", theta: 1, target: 4.5 } },
    look: "Press the button with the wanted mean: the threshold moves to where the mean patch size comes nearest to 4.5 bytes. It cannot " +
      "always be met exactly: bytes after the same context have the same entropy, so either all of them begin a patch or none.",
  },
  {
    id: "patches-tokens", title: "Patches and tokens on the same bytes",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", theta: 1.9 } },
    look: "The line under the bytes shows the tokens of your tokenizer. Tokens were fixed when the tokenizer was trained, by what is frequent. Patches are cut " +
      "when the text is read, by what is hard to predict. Choose the rule bpe: patches and tokens are the same.",
  },
  {
    id: "patches-stages", title: "The three stages of a byte-latent model",
    setup: { text: "the model predicts the next token", options: { train: "models", order: 4, smoothing: "backoff", theta: 1.9 } },
    look: "Scroll to the three stages and step with the arrows. A small encoder makes one vector of each patch, a large transformer runs once for each patch, and a small " +
      "decoder writes the bytes of the next patch. There is no vocabulary: bytes go in and bytes come out.",
  },
];

const RULES = [
  ["global", "global: entropy above θ"], ["monotonic", "monotonic: entropy rises"], ["both", "both: above θ and rising"],
  ["space", "space: after spaces and punctuation"], ["static", "static: patches of one size"], ["byte", "byte: every byte"], ["bpe", "bpe: the tokens of the tokenizer"],
];
const TRAINED = [["weavers", "a page about weavers (built in)"], ["models", "sentences about models (built in)"], ["text", "this text itself"]];
const byEntropy = (values) => ["global", "monotonic", "both"].includes(values.rule);
const hasTheta = (values) => values.rule === "global" || values.rule === "both";
const hasRise = (values) => values.rule === "monotonic" || values.rule === "both";
const SPECS = [
  { name: "rule", label: "Rule: where a patch begins", kind: "select", choices: RULES },
  { name: "theta", label: "Threshold θ (theta) of the entropy", kind: "range", min: 0, max: 8, step: 0.05, shown: hasTheta },
  { name: "rise", label: "Threshold of the rise", kind: "range", min: -2, max: 6, step: 0.05, shown: hasRise },
  { name: "size", label: "Bytes of a patch", kind: "range", min: 1, max: 32, step: 1, shown: (values) => values.rule === "static" },
  { name: "target", label: "Wanted mean size in bytes", kind: "number", min: 1, max: 1000, shown: byEntropy },
];
const MORE = [
  { name: "train", label: "Entropy model trained on", kind: "select", choices: TRAINED },
  { name: "order", label: "Order of the model", kind: "range", min: 1, max: 8, step: 1, hint: "one more than the number of bytes before that it looks at" },
  { name: "smoothing", label: "Smoothing", kind: "select", choices: [["backoff", "backoff: the longest context seen"], ["witten-bell", "witten-bell: all contexts mixed"]] },
  { name: "units", label: "Unit of the entropy", kind: "select", choices: [["bits", "bits: 8 = all bytes equally likely"], ["nats", "nats: 5.55 = all bytes equally likely"]] },
];

const kept = {};
let context = null;

function change(name, value) {
  if (name !== "units") return context.set({ [name]: value });
  // The same thresholds in another unit: the patches stay.
  const { units, theta, rise } = context.wanted;
  const factor = units === value ? 1 : value === "nats" ? Math.LN2 : 1 / Math.LN2;
  return context.set({ units: value, theta: theta * factor, rise: rise * factor });
}

function build() {
  kept.form = fields("patches", SPECS, change);
  kept.more = fields("patches", MORE, change);
  kept.found = el("p", { class: "found" });
  kept.chart = el("div");
  kept.dragging = false;
  kept.settings = el("details", { class: "twin" }, el("summary", null, "the entropy model and the unit"), kept.more.node);
  return el("div", null, kept.form.node, kept.found, kept.settings);
}

/* The bytes. */

function characterLength(lead) {
  return lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* One button for each byte. The same bytes keep their buttons: a threshold that moves only groups them anew. */
function byteCells({ bytes: hex, entropies, token_starts: tokenStarts, highest, units }) {
  const bytes = fromHex(hex);
  const wide = bytes.some((byte) => byte >= 0x80);
  const tokens = new Set(tokenStarts);
  let token = 0;
  // Many buttons: nothing costly in here, and one listener for all.
  return Array.from(bytes, (byte, i) => {
    const plain = byte > 0x20 && byte < 0x7f;
    const length = characterLength(byte);
    const shown = plain ? String.fromCharCode(byte) : length === 0 ? "" : visibleBytes(hex.slice(2 * i, 2 * (i + length)));
    if (i > 0 && tokens.has(i)) token += 1;
    const odd = token % 2 === 1;
    const digits = byte.toString(16).toUpperCase().padStart(2, "0");
    const say = `byte ${i}: ${digits}${shown ? ` ${shown}` : ""}, entropy ${entropies[i].toFixed(2)} ${units}`;
    let cell = null;
    return () => {
      cell ??= el("button", {
        type: "button", class: ["chip", "byte", odd && "odd", tokens.has(i) && "token-start"], title: say, "aria-label": say, id: `patches-byte-${i}`,
        style: { "--h": Math.min(1, Math.max(0, entropies[i] / highest)).toFixed(3) },
      }, shown || "\u00a0", wide && el("small", null, byte >= 0x80 ? digits : "\u00a0"));
      return cell;
    };
  });
}

function byteStrip(ctx) {
  const { records } = ctx;
  const { starts, highest } = records;
  const key = JSON.stringify([records.bytes, records.entropies, records.token_starts, highest]);
  if (kept.key !== key) Object.assign(kept, { key, cells: byteCells(records) });
  const { cells } = kept;
  const ends = [...starts.slice(1), cells.length];
  const at = records.at?.index ?? null;
  const one = (cell, i) => {
    const node = cell();
    node.tabIndex = i === (at ?? 0) ? 0 : -1;
    if (at === null) node.removeAttribute("aria-pressed");
    else node.setAttribute("aria-pressed", String(i === at));
    return node;
  };
  const groups = starts.map((start, i) => () => el("span", { class: "patch", role: "group", "aria-label": `patch ${i + 1}, ${plural(ends[i] - start, "byte")}` },
    cells.slice(start, ends[i]).map((cell, place) => one(cell, start + place))));
  const node = strip(groups, { label: "Bytes in patches", limit: Infinity, first: 40, class: ["bytes", hasTheta(ctx.options) && "lined"].filter(Boolean).join(" ") });
  node.dir = "ltr";
  node.addEventListener("click", (event) => {
    const cell = event.target.closest("button.byte");
    if (cell) context.set({ at: Number(cell.id.slice("patches-byte-".length)) });
  });
  node.style.setProperty("--line-at", ctx.options.theta / highest);
  return node;
}

/* The patches as words are read: one frame each. */
function patchStrip(ctx) {
  const { bytes, starts } = ctx.records;
  const ends = [...starts.slice(1), bytes.length / 2];
  const node = strip(starts.map((start, i) => () => chip({ bytes: bytes.slice(2 * start, 2 * ends[i]) }, { kind: "plain", title: `patch ${i + 1}, ${plural(ends[i] - start, "byte")}`, class: "whole-patch" })), { label: "The text in patches", limit: Infinity });
  node.id = "patches-text";
  return node;
}

function patchTable(ctx) {
  const { bytes, entropies, starts, rises, units } = ctx.records;
  const ends = [...starts.slice(1), bytes.length / 2];
  const rows = starts.map((start, i) => ({ place: i + 1, shown: visibleBytes(bytes.slice(2 * start, 2 * ends[i])), size: ends[i] - start, entropy: entropies[start], rise: start === 0 ? null : rises[start] }));
  return table({
    caption: "Patches", rows, limit: 100, columns: [
      { key: "place", title: "patch", number: true },
      { key: "shown", title: "bytes", format: (shown) => el("bdi", { class: "mono" }, shown) },
      { key: "size", title: "size", number: true },
      { key: "entropy", title: `entropy of its first byte (${units})`, number: true, format: (value) => ratio(value) },
      { key: "rise", title: "rise from the byte before", number: true, format: (value) => ratio(value) },
    ],
  });
}

function inspectByte(ctx) {
  const { at, units, entropies } = ctx.records;
  if (!at) return;
  const byteHex = (byte) => byte.toString(16).padStart(2, "0");
  ctx.inspect(el("div", null,
    el("h3", null, `Byte ${count(at.index)}: `, el("bdi", { class: "mono" }, visibleBytes(byteHex(at.byte)))),
    facts([
      ["looked at", at.context ? el("bdi", { class: "mono" }, visibleBytes(at.context)) : "nothing: it is the first"],
      ["entropy", entropies[at.index] === undefined ? "–" : `${ratio(entropies[at.index])} ${units}`],
      ["it came with", `probability ${at.probability.toPrecision(3)}, a surprise of ${ratio(at.surprise)} ${units}`],
    ]),
    table({
      caption: "What the model expected", sortable: false, rows: at.likely.map((one) => ({ ...one, _class: one.byte === at.byte ? "on" : null })),
      columns: [
        { key: "byte", title: "byte", format: (byte) => el("bdi", { class: "mono" }, visibleBytes(byteHex(byte)), byte === at.byte && " ← came") },
        { key: "probability", title: "probability", number: true, format: (value) => value.toPrecision(3) },
      ],
    })));
}

/* Figures and charts. */

function share(agreement) {
  return agreement.others ? `${count(agreement.both)} of ${count(agreement.others)}` : "–";
}

/* Whether spaces are why few tokens begin a patch: most patches end with one, and most tokens begin with one. */
function apartBySpaces({ bytes, starts, token_starts: tokens, report }) {
  const space = (at) => bytes.slice(2 * at, 2 * at + 2) === "20";
  const most = (places) => 2 * places.filter(space).length > places.length;
  const { both, others } = report.token_starts;
  return 2 * both < others && most([...starts.slice(1), bytes.length / 2].map((end) => end - 1)) && most(tokens);
}

function figures(ctx) {
  const { report, tokens } = ctx.records;
  const named = (name, value) => el("span", { data: { figure: name } }, value);
  return [facts([
    ["patches", named("patches", count(report.patches))],
    ["mean size", named("mean", `${ratio(report.mean)} bytes`)],
    ["runs of the large model", named("compute", `${ratio(report.relative_compute)} × as many runs as bytes`)],
    ["tokens, for comparison", named("tokens", `${count(tokens)}, mean ${ratio(tokens ? report.bytes / tokens : null)} bytes`)],
    ["words that begin a patch", named("words", share(report.word_starts))],
    ["tokens that begin a patch", named("token-starts", share(report.token_starts))],
  ], true),
  apartBySpaces(ctx.records) && el("p", { class: "note", id: "patches-apart" }, "Few tokens begin a patch: most patches end with a space, most tokens begin with one.")];
}

function histogram(report) {
  const most = 24;
  const sizes = Object.entries(report.histogram).map(([size, amount]) => [Number(size), amount]);
  const last = Math.min(most, Math.max(1, ...sizes.map(([size]) => size)));
  const bars = Array.from({ length: last }, (_, i) => ({ label: String(i + 1), value: 0 }));
  for (const [size, amount] of sizes) bars[Math.min(size, last) - 1].value += amount;
  if (sizes.some(([size]) => size > most)) bars[last - 1].label = `${most}+`;
  return barChart({ label: "How long the patches are", x: { title: "bytes of a patch" }, y: { title: "patches", format: (value) => (Number.isInteger(value) ? count(value) : "") }, bars, height: 180 });
}

/* A line that the reader moves. While it moves, the chart stays where it is and the patches follow. */
function threshold(name, label, ctx, bounds) {
  const { units } = ctx.records;
  return {
    y: ctx.options[name], label: `${label} = ${ratio(ctx.options[name])} ${units}`, step: 0.05, ...bounds,
    moved(value) {
      if (!kept.dragging) kept.words.style.setProperty("height", `${kept.words.offsetHeight}px`);
      kept.dragging = true;
      this.text.textContent = `${label} = ${ratio(value)} ${units}`;
      context.set({ [name]: value });
    },
    drag(value) {
      kept.words.style.removeProperty("height");
      kept.dragging = false;
      kept.refocus = true;
      context.set({ [name]: value });
    },
  };
}

function charts(ctx) {
  const { entropies, rises, highest, units } = ctx.records;
  const made = [];
  const x = { title: "byte", format: count };
  if (ctx.options.rule !== "monotonic") {
    made.push(lineChart({
      label: `Entropy of each byte in ${units}${hasTheta(ctx.options) ? ": a patch begins where it is above θ (drag the line)" : ""}`, x, height: 190, y: { title: units, from: 0, to: highest, format: (value) => ratio(value, 1) },
      series: [{ name: "entropy", points: entropies.map((value, i) => [i, value]) }],
      marks: hasTheta(ctx.options) ? [threshold("theta", "θ", ctx, { least: 0, most: highest })] : [], onPick: ctx.live ? (i) => context.set({ at: i }) : undefined,
    }));
  }
  if (hasRise(ctx.options)) {
    made.push(lineChart({
      label: `Rise from the byte before in ${units}: a patch begins where it is above the line (drag it)`, x, height: 190, y: { title: units, from: -highest, to: highest, format: (value) => ratio(value, 1) },
      series: [{ name: "rise", points: rises.map((value, i) => [i, value]) }],
      marks: [threshold("rise", "rise", ctx, { least: -highest, most: highest })],
    }));
  }
  return made;
}

/* The three stages. */

const STAGES = [
  ["The cut", "The entropy model has decided where patches begin. It is a model of its own, trained before the others."],
  ["1 · Local encoder", "A small transformer reads the bytes and makes one vector (a row of numbers) of each patch. Each byte looks at the bytes shortly before it, and the patch looks at its own bytes."],
  ["2 · Latent transformer", "The large transformer runs once for each patch, and each patch looks at the patches before it. Most of the computing is done here, so longer patches save most of it."],
  ["3 · Local decoder", "A small transformer turns the large one's output for a patch into the bytes of the next patch, one byte after another."],
];
const COLUMNS = 12;

function stageTable(ctx, stage) {
  const { bytes, starts, report } = ctx.records;
  const ends = [...starts.slice(1), bytes.length / 2];
  const hexOf = (i) => bytes.slice(2 * starts[i], 2 * ends[i]);
  const patches = starts.slice(0, COLUMNS).map((start, i) => ({ hex: hexOf(i), size: ends[i] - start }));
  const more = report.patches - patches.length;
  const letters = (hex) => el("span", { class: "units" }, chip({ bytes: hex }, { kind: "plain" }));
  const rows = [
    ["Bytes in patches", (patch) => [letters(patch.hex), el("small", null, plural(patch.size, "byte"))]],
    ["1 · Local encoder", (patch, i) => el("span", { class: "vector" }, `p${i + 1}`, el("small", null, `${patch.size} → 1 vector`))],
    ["2 · Latent transformer", (_, i) => el("span", { class: "vector large" }, `run ${i + 1}`, el("small", null, i === 0 ? "sees p1" : `sees p1–p${i + 1}`))],
    ["3 · Local decoder", (_, i) => (i + 1 < starts.length ? [letters(hexOf(i + 1)), el("small", null, `the bytes of p${i + 2}`)] : el("small", null, "what follows the text"))],
  ];
  const state = (row) => (row === stage ? "now" : row > stage ? "later" : null);
  return [el("p", { "aria-live": "polite" }, el("strong", null, STAGES[stage][0], ". "), STAGES[stage][1]),
    el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "The three stages on the patches" }, el("table", { class: "stages" },
      el("caption", { class: "unseen" }, "The patches of this text in the three stages"),
      el("thead", null, el("tr", null, el("td"), patches.map((_, i) => el("th", { scope: "col" }, `patch ${i + 1}`)), more > 0 && el("th", { scope: "col" }, `and ${count(more)} more`))),
      el("tbody", null, rows.map(([name, draw], row) => el("tr", { class: state(row) },
        el("th", { scope: "row" }, name, row === stage && el("span", { class: "here" }, " ◂ now"), row > stage && el("span", { class: "unseen" }, " (later)")),
        patches.map((patch, i) => el("td", null, draw(patch, i))), more > 0 && el("td", null, "…"))))))];
}

function buildStages() {
  kept.picture = el("div", { id: "patches-stages" });
  kept.ran = el("p", { class: "note" });
  const saved = Math.trunc(Number(context.view.stage)) || 0;
  kept.steps = stepper({
    label: "The three stages", count: 4, value: Math.min(3, Math.max(0, saved)), speed: 1800, say: (i) => `step ${i + 1} of 4: ${STAGES[i][0].replace(/^\d · /, "")}`,
    onStep: (stage) => { context.view.stage = stage; context.remember({ stage }); drawStages(context); },
  });
  return el("section", { class: "below" }, el("h2", null, "The three stages of a byte-latent model"), kept.steps, kept.picture, kept.ran);
}

function drawStages(ctx) {
  const stage = Math.min(3, Math.max(0, Math.trunc(Number(ctx.view.stage)) || 0));
  if (kept.steps.stepper.value() !== stage) kept.steps.stepper.go(stage);
  const { report, bytes, starts } = ctx.records;
  kept.picture.dataset.stage = stage;
  part(kept.picture, [stage, report.patches, starts.slice(0, COLUMNS + 2), bytes.slice(0, 2 * (starts[COLUMNS + 1] ?? Infinity))], () => stageTable(ctx, stage));
  kept.ran.textContent = `On this text the large model runs ${plural(report.patches, "time")} for ${plural(report.bytes, "byte")}. The cut is byteloom's; the three models are drawn as the Byte Latent Transformer (Pagnoni et al. 2024) has them, and none of them runs here.`;
}

/* All of it. */

function modelWords({ model }) {
  const learned = TRAINED.find(([name]) => name === model.train)[1];
  const seen = model.train === "text" ? " It was trained on this very text, so it predicts it better than it would a new one." : "";
  return `The entropy model has counted which byte follows which ${model.context === 0 ? "without looking at the bytes before" : plural(model.context, "byte")} in ${learned} (${plural(model.bytes, "byte")}). It needs ${ratio(model.bits_per_byte)} bits for a byte of this text, on average.${seen}`;
}

function drawFound(ctx) {
  const { threshold_for_target: found, units, rule, target } = ctx.records;
  kept.found.hidden = found === null;
  if (found === null) return;
  const name = rule === "monotonic" ? "rise" : "theta";
  fill(kept.found,
    el("button", { type: "button", id: "patches-find", disabled: !ctx.live, on: { click: () => context.set({ [name]: found }) } }, `Use the threshold for a mean of ${target} bytes`),
    ` ${name === "rise" ? "rise" : "θ"} = ${found.toFixed(3)} ${units} gives the mean nearest to it on this text.`);
}

function buildPicture() {
  kept.figures = el("div");
  kept.words = el("div", { class: "patched" });
  kept.bytes = el("div", { class: "below" });
  kept.left = el("p", { class: "note" });
  kept.legend = el("ul", { class: "legend" });
  kept.table = lazy("patches as a table", () => patchTable(context));
  kept.learned = el("p", { class: "note" });
  kept.sizes = el("div", { class: "below" });
  kept.stages = buildStages();
  // The words of the text and the line to move are seen together; the long strip of bytes comes after them.
  kept.all = el("div", null, el("h2", null, "The text in patches"), kept.words, kept.figures, kept.chart,
    kept.learned, kept.table, kept.stages, el("h2", null, "Each byte and its entropy"), kept.legend, kept.bytes, kept.left, kept.sizes);
}

function legendOf(options) {
  return [
    el("li", null, el("span", { class: "patch", "aria-hidden": "true" }, "\u00a0\u00a0"), " a frame: one patch"),
    el("li", null, "column above a byte: its entropy", hasTheta(options) && ", with θ as a line"),
    el("li", null, "line below: tokens, solid and dotted in turn"),
  ];
}

function render(root, ctx) {
  context = ctx;
  keep(kept, root, build);
  const { records } = ctx;
  const unit = records.highest / 8;
  const bounds = { theta: { min: 0, max: records.highest, step: records.highest / 160 }, rise: { min: -2 * unit, max: 6 * unit, step: unit / 20 } };
  kept.form.update(ctx.wanted, { live: ctx.live, bounds });
  kept.more.update(ctx.wanted, { live: ctx.live });
  drawFound(ctx);
  if (records.report.bytes === 0) {
    fill(kept.stage, el("p", { class: "note" }, "There is no byte yet: type a text."));
    return;
  }
  if (!kept.all) buildPicture();
  if (kept.all.parentNode !== kept.stage) fill(kept.stage, kept.all);
  const { rule, theta, rise } = ctx.options;
  const { bytes, entropies, starts, token_starts: tokens, units, rises } = records;
  part(kept.figures, [records.report, records.tokens, apartBySpaces(records)], () => figures(ctx));
  part(kept.words, [bytes, starts], () => patchStrip(ctx));
  if (!kept.dragging) part(kept.chart, [entropies, hasRise(ctx.options) && rises, rule, theta, rise, units, ctx.live], () => charts(ctx));
  if (kept.refocus) {
    kept.chart.querySelector("[role=slider]")?.focus({ preventScroll: true });
    kept.refocus = false;
  }
  part(kept.bytes, [bytes, entropies, starts, tokens, units, hasTheta(ctx.options), records.at?.index], () => byteStrip(ctx));
  kept.bytes.firstChild?.style.setProperty("--line-at", theta / records.highest);
  kept.left.hidden = records.left_out_bytes === 0;
  kept.left.textContent = `The first ${plural(bytes.length / 2, "byte")} are drawn, to the end of a patch. The figures count all ${count(records.report.bytes)}.`;
  part(kept.legend, hasTheta(ctx.options), () => legendOf(ctx.options));
  lazy.update(kept.table, () => patchTable(context));
  kept.learned.textContent = modelWords(records);
  drawStages(ctx);
  part(kept.sizes, records.report.histogram, () => histogram(records.report));
  inspectByte(ctx);
}

export default {
  id: "patches",
  title: "Patches",
  about: "A byte-latent model has no vocabulary: it groups the bytes of a text into patches. A small model says before each byte how uncertain it is which byte comes. " +
    "This is the entropy: 0 bits is certain, 8 bits is all 256 bytes equally likely. Where the entropy is above a threshold θ (theta), a new patch begins, so that the large model runs where the text is hard to predict.",
  label: "Text to cut into patches", text, options, cards, render, keeps: true,
};
