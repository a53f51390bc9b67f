/* Patches: bytes grouped by how hard the next one is to foresee, and the three stages of a model that reads them. */

import { barChart, lineChart } from "../lib/chart.js";
import { chip, strip } from "../lib/chips.js";
import { el, fill } from "../lib/dom.js";
import { fields, keep } from "../lib/fields.js";
import { count, fromHex, plural, ratio, visibleBytes } from "../lib/signs.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const options = {
  rule: "global", theta: 2, rise: 0.5, units: "bits", order: 4, smoothing: "backoff", train: "weavers", size: 4, target: 4.5, at: -1,
};

export const cards = [
  {
    id: "patches-low", title: "The threshold near nothing",
    setup: { text: "the model predicts the next token", options: { train: "models", theta: 0.05 } },
    look: "Every byte is above the line, so every byte begins a patch: 33 patches of one byte, and a large model would run as often " +
      "as on bytes. Raise the threshold and watch patches grow together where the columns are low.",
  },
  {
    id: "patches-high", title: "The threshold near the top",
    setup: { text: "the model predicts the next token", options: { train: "models", theta: 4.5 } },
    look: "Nothing reaches the line: one patch holds the whole sentence. The large model runs once, which is cheap, and sees 33 bytes " +
      "as one coarse unit. Lower the threshold to 3.2: three patches, at the bytes that were hardest to foresee.",
  },
  {
    id: "patches-words", title: "Find where words begin",
    setup: { text: "the model predicts the next token", options: { train: "models", theta: 1.9 } },
    look: "Patches begin at the m of model, the p of predicts and the n of next: what word comes is hard to say, and once it has begun " +
      "the rest is easy. So odel stays with its m. The last word breaks behind its t, which could also have begun the or text; oken stays together.",
  },
  {
    id: "patches-jumps", title: "Ask for a jump, not a height",
    setup: { text: "the model predicts the next token", options: { train: "models", rule: "monotonic", rise: 0.5 } },
    look: "A patch begins where the entropy rises by more than the threshold from one byte to the next; the line now lies on the rises. The h of " +
      "the is uncertain, but less so than the t before it: no patch. The s of predicts is calmer, but jumps up from the t before it: a patch. And token " +
      "stays whole. Where a long text grows harder as a whole, heights drift, and jumps still mean the same.",
  },
  {
    id: "patches-novel", title: "Surprise is not error",
    setup: { text: "the model ~ZQX~ predicts", options: { train: "models", theta: 2 } },
    look: "Behind letters that the model never met it knows nothing: 8 bits, as if all 256 bytes were equally likely. That says the next " +
      "byte is hard to foresee, not that the text is wrong or important. The model was trained beforehand and does not learn here. It only " +
      "counts; a trained neural one is smoother on new text, and the cut works the same way.",
  },
  {
    id: "patches-target", title: "A threshold for 4.5 bytes",
    setup: { text: "the model reads the text, and the writer writes the text that the model predicts", options: { train: "models", theta: 1, target: 4.5 } },
    look: "Press the button beside the wanted mean: the threshold moves to where patches come nearest to 4.5 bytes on average. It cannot " +
      "always be met exactly, since bytes behind the same context have the same entropy and can only begin patches together.",
  },
  {
    id: "patches-tokens", title: "Patches and tokens on the same bytes",
    setup: { text: "the model predicts the next token", options: { train: "models", theta: 1.9 } },
    look: "The line under the bytes shows the tokens of your tokenizer. They were fixed when it was trained, by what is frequent. Patches are cut " +
      "while the text is read, by what is hard. Choose the rule bpe: patches and tokens are the same.",
  },
  {
    id: "patches-stages", title: "The three stages of a byte-latent model",
    setup: { text: "the model predicts the next token", options: { train: "models", theta: 1.9 } },
    look: "Go down to the three stages and step with the arrows. A small encoder sums up each patch, a large transformer runs once a patch, and a small " +
      "decoder writes the bytes of the next patch. No vocabulary anywhere: bytes go in and bytes come out.",
  },
];

const RULES = [
  ["global", "global: entropy above θ"], ["monotonic", "monotonic: entropy rises"], ["both", "both: above θ and rising"],
  ["space", "space: behind spaces and signs"], ["static", "static: patches of one size"], ["byte", "byte: every byte"], ["bpe", "bpe: the tokens of the tokenizer"],
];
const TRAINED = [["weavers", "a page about weavers (built in)"], ["models", "sentences about models (built in)"], ["text", "this text itself"]];
const byEntropy = (values) => ["global", "monotonic", "both"].includes(values.rule);
const hasTheta = (values) => values.rule === "global" || values.rule === "both";
const hasRise = (values) => values.rule === "monotonic" || values.rule === "both";
const SPECS = [
  { name: "rule", label: "Rule", kind: "select", choices: RULES },
  { name: "theta", label: "Threshold θ of the entropy", kind: "range", min: 0, max: 8, step: 0.05, shown: hasTheta },
  { name: "rise", label: "Threshold of the rise", kind: "range", min: -2, max: 6, step: 0.05, shown: hasRise },
  { name: "size", label: "Bytes of a patch", kind: "range", min: 1, max: 32, step: 1, shown: (values) => values.rule === "static" },
  { name: "units", label: "Unit", kind: "select", choices: [["bits", "bits: 8 is no idea"], ["nats", "nats: 5.55 is no idea"]] },
  { name: "train", label: "Entropy model learned from", kind: "select", choices: TRAINED },
  { name: "order", label: "Order of the model", kind: "range", min: 1, max: 8, step: 1, hint: "one more than the bytes of context that it looks at" },
  { name: "smoothing", label: "Smoothing", kind: "select", choices: [["backoff", "backoff: the longest context seen"], ["witten-bell", "witten-bell: all contexts mixed"]] },
  { name: "target", label: "Wanted mean in bytes", kind: "number", min: 1, max: 1000, shown: byEntropy },
];

const kept = {};
let context = null;

function change(name, value) {
  if (name !== "units") return context.set({ [name]: value });
  // The same thresholds in another unit: the patches stay.
  const { units, theta, rise } = context.options;
  const factor = units === value ? 1 : value === "nats" ? Math.LN2 : 1 / Math.LN2;
  return context.set({ units: value, theta: theta * factor, rise: rise * factor });
}

function build() {
  kept.form = fields("patches", SPECS, change);
  kept.found = el("p", { class: "found" });
  kept.chart = el("div");
  kept.dragging = false;
  return el("div", null, kept.form.node, kept.found);
}

/* The bytes. */

function characterLength(lead) {
  return lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

function byteStrip(ctx) {
  const { records } = ctx;
  const { bytes: hex, entropies, starts, token_starts: tokenStarts, highest, units } = records;
  const bytes = fromHex(hex);
  const wide = bytes.some((byte) => byte >= 0x80);
  const tokens = new Set(tokenStarts);
  let token = 0;
  // A thousand buttons: nothing costly in here, and one listener for all.
  const cells = Array.from(bytes, (byte, i) => {
    const plain = byte > 0x20 && byte < 0x7f;
    const length = characterLength(byte);
    const shown = plain ? String.fromCharCode(byte) : length === 0 ? "" : visibleBytes(hex.slice(2 * i, 2 * (i + length)));
    if (i > 0 && tokens.has(i)) token += 1;
    const digits = byte.toString(16).toUpperCase().padStart(2, "0");
    const say = `byte ${i}: ${digits}${shown ? ` ${shown}` : ""}, entropy ${entropies[i].toFixed(2)} ${units}`;
    return el("button", {
      type: "button", class: ["chip", "byte", token % 2 === 1 && "odd", tokens.has(i) && "token-start"], title: say, "aria-label": say, id: `patches-byte-${i}`, tabindex: i === (records.at?.index ?? 0) ? 0 : -1,
      "aria-pressed": records.at ? String(records.at.index === i) : null, style: { "--h": Math.min(1, Math.max(0, entropies[i] / highest)).toFixed(3) },
    }, shown || "\u00a0", wide && el("small", null, byte >= 0x80 ? digits : "\u00a0"));
  });
  const ends = [...starts.slice(1), bytes.length];
  const groups = starts.map((start, i) => el("span", { class: "patch", role: "group", "aria-label": `patch ${i + 1}, ${plural(ends[i] - start, "byte")}` }, cells.slice(start, ends[i])));
  const node = strip(groups, { label: "Bytes in patches", limit: Infinity, class: ["bytes", hasTheta(ctx.options) && "lined"].filter(Boolean).join(" ") });
  node.dir = "ltr";
  node.addEventListener("click", (event) => {
    const cell = event.target.closest("button.byte");
    if (cell) ctx.set({ at: Number(cell.id.slice("patches-byte-".length)) });
  });
  node.style.setProperty("--line-at", ctx.options.theta / highest);
  return node;
}

function patchTable(ctx) {
  const { bytes, entropies, starts, rises, units } = ctx.records;
  const ends = [...starts.slice(1), bytes.length / 2];
  const rows = starts.map((start, i) => ({ place: i + 1, shown: visibleBytes(bytes.slice(2 * start, 2 * ends[i])), size: ends[i] - start, entropy: entropies[start], rise: start === 0 ? null : rises[start] }));
  return el("details", { class: "twin" }, el("summary", null, "patches as a table"), table({
    caption: "Patches", rows, limit: 100, columns: [
      { key: "place", title: "patch", number: true },
      { key: "shown", title: "bytes", format: (shown) => el("bdi", { class: "mono" }, shown) },
      { key: "size", title: "size", number: true },
      { key: "entropy", title: `entropy of its first byte (${units})`, number: true, format: (value) => ratio(value) },
      { key: "rise", title: "rise from the byte before", number: true, format: (value) => ratio(value) },
    ],
  }));
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

function figures(ctx) {
  const { report, tokens } = ctx.records;
  const named = (name, value) => el("span", { data: { figure: name } }, value);
  return facts([
    ["patches", named("patches", count(report.patches))],
    ["mean size", named("mean", `${ratio(report.mean)} bytes`)],
    ["large model runs", named("compute", `${ratio(report.relative_compute)} × as often as on bytes`)],
    ["tokens", named("tokens", `${count(tokens)}, of ${ratio(tokens ? report.bytes / tokens : null)} bytes`)],
    ["word starts met", named("words", share(report.word_starts))],
    ["token starts met", named("token-starts", share(report.token_starts))],
  ]);
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

/* A line that the reader moves. While it moves, the chart stays and the bytes follow. */
function threshold(name, label, ctx, bounds) {
  const { units } = ctx.records;
  let wait = null;
  return {
    y: ctx.options[name], label: `${label} = ${ratio(ctx.options[name])} ${units}`, step: 0.05, ...bounds,
    moved(value) {
      kept.dragging = true;
      this.text.textContent = `${label} = ${ratio(value)} ${units}`;
      clearTimeout(wait);
      wait = setTimeout(() => ctx.set({ [name]: value }), 40);
    },
    drag(value) {
      clearTimeout(wait);
      kept.dragging = false;
      kept.refocus = true;
      ctx.set({ [name]: value });
    },
  };
}

function charts(ctx) {
  const { entropies, rises, highest, units } = ctx.records;
  const made = [];
  const x = { title: "byte", format: count };
  if (ctx.options.rule !== "monotonic") {
    made.push(lineChart({
      label: `Entropy of each byte in ${units}${hasTheta(ctx.options) ? ": a patch begins above the line" : ""}`, x, y: { title: units, from: 0, to: highest, format: (value) => ratio(value, 1) },
      series: [{ name: "entropy", points: entropies.map((value, i) => [i, value]) }],
      marks: hasTheta(ctx.options) ? [threshold("theta", "θ", ctx, { least: 0, most: highest })] : [], onPick: ctx.live ? (i) => ctx.set({ at: i }) : undefined,
    }));
  }
  if (hasRise(ctx.options)) {
    made.push(lineChart({
      label: `Rise from the byte before in ${units}: a patch begins above the line`, x, y: { title: units, from: -highest, to: highest, format: (value) => ratio(value, 1) },
      series: [{ name: "rise", points: rises.map((value, i) => [i, value]) }],
      marks: [threshold("rise", "rise", ctx, { least: -highest, most: highest })],
    }));
  }
  return made;
}

/* The three stages. */

const STAGES = [
  ["The cut", "The entropy model has said where patches begin. It is a model of its own: trained before, and left as it is."],
  ["1 · Local encoder", "A small model reads the bytes and sums up each patch as one vector. Bytes look at bytes nearby; a patch looks at its own bytes."],
  ["2 · Latent transformer", "The large model runs once for each patch, and each patch sees those before it. This is where the work is, so long patches save it."],
  ["3 · Local decoder", "A small model turns what came out for a patch into the bytes of the next patch, one after another."],
];
const COLUMNS = 12;

function stageTable(ctx, stage) {
  const { bytes, starts, report } = ctx.records;
  const ends = [...starts.slice(1), bytes.length / 2];
  const patches = starts.slice(0, COLUMNS).map((start, i) => ({ hex: bytes.slice(2 * start, 2 * ends[i]), size: ends[i] - start }));
  const more = report.patches - patches.length;
  const wave = (hex) => el("span", { class: "units" }, chip({ bytes: hex }, { kind: "plain" }));
  const next = (i) => (i + 1 < starts.length ? bytes.slice(2 * starts[i + 1], 2 * ends[i + 1]) : null);
  const rows = [
    ["Bytes", (patch) => wave(patch.hex)],
    ["1 · Local encoder", (patch, i) => el("span", { class: "vector" }, `p${i + 1}`, el("small", null, `${plural(patch.size, "byte")} → 1 vector`))],
    ["2 · Latent transformer", (_, i) => el("span", { class: "vector large" }, `run ${i + 1}`, el("small", null, i === 0 ? "sees p1" : `sees p1 to p${i + 1}`))],
    ["3 · Local decoder", (_, i) => (next(i) ? [wave(next(i)), el("small", null, `the bytes of p${i + 2}`)] : el("small", null, "whatever comes next"))],
  ];
  const cell = (row, i) => (row > stage ? el("td", { class: "later" }, "·") : el("td", { class: row === stage && "now" }, rows[row][1](patches[i], i)));
  return [el("p", { "aria-live": "polite" }, el("strong", null, STAGES[stage][0], ". "), STAGES[stage][1]),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The three stages on the patches" }, el("table", { class: "stages" },
    el("caption", { class: "unseen" }, "The patches of this text in the three stages"),
    el("thead", null, el("tr", null, el("td"), patches.map((_, i) => el("th", { scope: "col" }, `patch ${i + 1}`)), more > 0 && el("th", { scope: "col" }, `and ${count(more)} more`))),
    el("tbody", null, rows.map(([name], row) => el("tr", { class: [row === stage && "now", row > stage && "later"] },
      el("th", { scope: "row" }, name, row === stage && el("span", { class: "here" }, " ◂ now")), patches.map((_, i) => cell(row, i)), more > 0 && el("td", null, "…"))))))];
}

function stages(ctx) {
  const place = Math.min(3, Math.max(0, Math.trunc(Number(ctx.view.stage)) || 0));
  const picture = el("div", { id: "patches-stages", data: { stage: place } }, stageTable(ctx, place));
  const { report } = ctx.records;
  return el("section", null,
    el("h2", null, "The three stages of a byte-latent model"),
    stepper({
      label: "The three stages", count: 4, value: place, speed: 1800, say: (i) => STAGES[i][0],
      onStep: (i) => { ctx.view.stage = i; ctx.remember({ stage: i }); picture.dataset.stage = i; fill(picture, stageTable(ctx, i)); },
    }),
    picture,
    el("p", { class: "note" }, `On this text the large model runs ${plural(report.patches, "time")} for ${plural(report.bytes, "byte")}. The cut is ours; the three models are drawn as the Byte Latent Transformer (Pagnoni et al. 2024) has them, and none runs here.`));
}

/* All of it. */

function modelWords({ model }) {
  const learned = TRAINED.find(([name]) => name === model.train)[1];
  const seen = model.train === "text" ? " It has counted this very text, so it is less surprised than it would be by a new one." : "";
  return `The entropy model counts which byte follows which ${model.context === 0 ? "without looking at any byte before" : plural(model.context, "byte")}. It learned from ${learned} (${plural(model.bytes, "byte")}), and needs ${ratio(model.bits_per_byte)} bits for a byte of this text.${seen}`;
}

function drawFound(ctx) {
  const { threshold_for_target: found, units, rule, target } = ctx.records;
  kept.found.hidden = found === null;
  if (found === null) return;
  const name = rule === "monotonic" ? "rise" : "theta";
  fill(kept.found,
    el("button", { type: "button", id: "patches-find", disabled: !ctx.live, on: { click: () => ctx.set({ [name]: found }) } }, `Use the threshold for a mean of ${target} bytes`),
    ` ${name === "rise" ? "rise" : "θ"} = ${found.toFixed(3)} ${units} comes nearest on this text.`);
}

function render(root, ctx) {
  context = ctx;
  keep(kept, root, build);
  const { records } = ctx;
  const unit = records.highest / 8;
  kept.form.update(ctx.options, { live: ctx.live, bounds: { theta: { min: 0, max: records.highest, step: records.highest / 160 }, rise: { min: -2 * unit, max: 6 * unit, step: unit / 20 } } });
  drawFound(ctx);
  if (records.report.bytes === 0) {
    fill(kept.stage, el("p", { class: "note" }, "There is no byte yet: type a text."));
    return;
  }
  if (!kept.dragging) fill(kept.chart, charts(ctx));
  if (kept.refocus) {
    kept.chart.querySelector("[role=slider]")?.focus({ preventScroll: true });
    kept.refocus = false;
  }
  if (!kept.stage.contains(kept.chart)) {
    // The chart stands above the bytes: these take more or less room while its line is dragged.
    kept.top = el("div");
    kept.bytes = el("div");
    kept.bottom = el("div");
    fill(kept.stage, kept.top, kept.chart, kept.bytes, kept.bottom);
  }
  fill(kept.top, figures(ctx));
  fill(kept.bytes,
    byteStrip(ctx),
    records.left_out_bytes > 0 && el("p", { class: "note" }, `${plural(records.left_out_bytes, "byte")} more are counted in the figures and not drawn.`),
    el("ul", { class: "legend" },
      el("li", null, el("span", { class: "patch", "aria-hidden": "true" }, "\u00a0\u00a0"), " a frame: one patch"),
      el("li", null, "column above a byte: its entropy", hasTheta(ctx.options) && ", with the threshold as a line"),
      el("li", null, "line below: tokens, solid and dotted in turn")),
    patchTable(ctx),
    el("p", { class: "note" }, modelWords(records)));
  fill(kept.bottom, histogram(records.report), stages(ctx));
  inspectByte(ctx);
}

export default {
  id: "patches",
  title: "Patches",
  about: "A byte-latent model has no vocabulary. It groups bytes into patches where the next byte is easy to foresee, and begins a new one where it is not, so that its large part runs where the text is hard.",
  options, cards, render, keeps: true,
};
