/* Compare: two to six tokenizers on the same text, in the same languages, and what that costs. */

import { chip, strip } from "../lib/chips.js";
import { el, fill, memo, settle } from "../lib/dom.js";
import { keep } from "../lib/fields.js";
import { count, plural, ratio, visibleBytes } from "../lib/signs.js";
import { table } from "../lib/table.js";

export const options = { names: [] };

export const cards = [
  {
    id: "compare-rings", title: "Where two tokenizers disagree",
    setup: { text: "The keeper reads letters about the weather.", options: { names: ["built-in, English", "built-in, 13 languages"] } },
    look: "A token with a dashed ring is not a token of every tokenizer here: another one begins or ends a token inside it, or makes it a part of a longer one. Tokens without a ring are the same for all. " +
      "Both of these learned the same page of English; the second one learned twelve more languages too, and has twice as many tokens.",
  },
  {
    id: "compare-script", title: "The same greeting, another script",
    setup: { text: "नमस्ते दुनिया", options: { names: ["built-in, English", "built-in, 13 languages"] } },
    look: "A tokenizer that never saw Devanagari has no merges for it: 37 bytes, 37 tokens, and most of them are parts of characters. The one that " +
      "saw a little Hindi needs 14. Nothing is unknown to either.",
  },
  {
    id: "compare-languages", title: "What a language pays",
    setup: { text: "The old lighthouse stands on a rock at the edge of the sea.", options: { names: ["built-in, English", "built-in, 13 languages"] } },
    look: "Go down to the languages: the same seven sentences in each. “× English” says how many times as many tokens a language takes as English does. Hindi takes most " +
      "with the first tokenizer; the second one, which was trained on some Hindi, takes less than half of that. More tokens fill the context window sooner, and cost more time and money.",
  },
  {
    id: "compare-cost", title: "The same text, two bills",
    setup: { text: "Η βιβλιοθήκη ανοίγει στις εννέα. The library opens at nine.", options: { names: ["built-in, English", "built-in, 13 languages"] } },
    look: "Go down to the cost. Prices here are examples: type in those that you pay, and the date changes to today. Nothing is fetched. " +
      "Where a token costs the same, the tokenizer that makes fewer tokens is the cheaper one, and more text fits into the same context window.",
  },
];

const LEAST = 2;
const MOST = 6;
const named = (name) => el("span", { class: "name" }, name);
const kept = {};
let context = null;

/* Which ones. */

function build() {
  kept.choices = el("fieldset", { class: "fields names" });
  return kept.choices;
}

function chosenNames(ctx) {
  return ctx.records.names;
}

function drawChoices(ctx) {
  const chosen = chosenNames(ctx);
  const active = document.activeElement?.id;
  fill(kept.choices, el("legend", null, `Tokenizers side by side (${LEAST} to ${MOST})`), ctx.tokenizers.map((named, i) => {
    const on = chosen.includes(named.name);
    const off = (!on && chosen.length >= MOST) || (on && chosen.length <= LEAST);
    const box = el("input", { type: "checkbox", id: `compare-name-${i}`, disabled: off, on: { change: () => {
      const wanted = ctx.tokenizers.map((one) => one.name).filter((name) => (name === named.name ? box.checked : chosen.includes(name)));
      context.set({ names: wanted });
    } } });
    box.checked = on;
    return el("div", { class: "field check" }, box, el("label", { for: `compare-name-${i}` }, `${named.name} (${count(named.vocab_size)})`));
  }));
  kept.choices.disabled = !ctx.live;
  if (active?.startsWith("compare-name-")) document.getElementById(active)?.focus({ preventScroll: true });
  if (ctx.tokenizers.length < 3) kept.choices.append(el("small", { class: "hint" }, "To add yours: byteloom explore your-tokenizer.json"));
}

/* The text in the tokens of each. */

function inspect(ctx, name, token) {
  ctx.inspect(el("div", null, el("h3", null, el("bdi", { class: "mono" }, visibleBytes(token.bytes))), table({
    caption: `A token of ${name}`, sortable: false, columns: [{ key: "name", title: "" }, { key: "value", title: "" }],
    rows: [
      { name: "id", value: count(token.id) },
      { name: "bytes", value: token.bytes.replace(/../g, "$& ").trim().toUpperCase() },
      { name: "place", value: `bytes ${token.span[0]} to ${token.span[1] - 1}` },
      { name: "in all", value: token.ringed ? "no: another tokenizer cuts this part of the text at other places" : "yes: each has a token of exactly these bytes here" },
    ],
  })));
}

function rows(ctx) {
  const { records } = ctx;
  return records.names.map((name, place) => memo(drawn, `row-${place}`, [name, records.rows[place], records.figures[place].tokens], () => el("section", { class: "compared", data: { row: place } },
    el("h3", null, name, el("span", { class: "soft" }, ` · ${plural(records.figures[place].tokens, "token")}`)),
    strip(records.rows[place].map((token, i) => () => chip({ bytes: token.bytes }, {
      shade: i % 8, class: token.ringed ? "ringed" : "", label: `id ${token.id}${token.ringed ? ", not in all" : ""}`, inspect: () => inspect(ctx, name, token),
    })), { label: `Tokens of ${name}`, more: "tokens", first: 80 }))));
}

function spread(figures) {
  const tokens = figures.map((row) => row.tokens);
  const [low, high] = [Math.min(...tokens), Math.max(...tokens)];
  const name = (wanted) => figures.find((row) => row.tokens === wanted).tokenizer;
  if (low === 0 || tokens.length < 2) return "";
  return low === high ? `All make ${plural(low, "token")}.` : `${name(high)} makes ${ratio((100 * (high - low)) / low, 1)} % more tokens than ${name(low)}.`;
}

function agreement(records) {
  const { boundaries } = records;
  const { names } = records;
  if (names.length < 2) return "Choose a second tokenizer to see where they differ.";
  if (boundaries.all_cuts === 0) return "No tokenizer cuts this text: it is one token or none.";
  const all = names.length === 2 ? "both tokenizers" : `all ${names.length} tokenizers`;
  return [
    "Tokens end at ", el("strong", null, plural(boundaries.all_cuts, "place")), ", and at ", el("strong", null, count(boundaries.common_cuts)), ` of them for ${all}. `,
    boundaries.differing_spans === 0 ? "They cut this text alike. " : `${plural(boundaries.differing_spans, "stretch", "stretches")} of the text, together ${plural(boundaries.differing_bytes, "byte")}, ${boundaries.differing_spans === 1 ? "is" : "are"} cut differently. `,
    spread(records.figures),
  ];
}

function figuresTable(records) {
  return [table({
    caption: "On this text", sortable: false, rows: records.figures,
    columns: [
      { key: "tokenizer", title: "tokenizer", format: named },
      { key: "tokens", title: "tokens", number: true },
      { key: "bytes_per_token", title: "bytes/token", number: true, format: (value) => ratio(value) },
      { key: "characters_per_token", title: "characters/token", number: true, format: (value) => ratio(value) },
      { key: "tokens_per_word", title: "tokens/word", number: true, format: (value) => ratio(value) },
      { key: "partial_tokens", title: "parts of characters", number: true },
    ],
  }), el("p", { class: "note" }, "bytes/token, characters/token, tokens/word: averages over this text. Parts of characters: tokens that hold no whole character, such as ⟨E6 97⟩, two bytes of 日.")];
}

function differences(records) {
  if (records.differences.length === 0) return null;
  const { differing_spans: all } = records.boundaries;
  return el("details", { class: "twin" }, el("summary", null, "the differences as a table"), table({
    caption: all > records.differences.length ? `The first ${records.differences.length} of ${count(all)} stretches that are cut differently` : "Stretches that are cut differently", sortable: false,
    rows: records.differences,
    columns: [
      { key: "byte_span", title: "bytes", format: ([from, to]) => `${from}–${to - 1}` },
      ...records.names.map((name, place) => ({ key: "pieces", title: name, format: (pieces) => el("bdi", { class: "mono" }, pieces[place].map((piece) => visibleBytes(typeof piece === "string" ? piece : piece.bytes)).join(" | ")) })),
    ],
  }));
}

/* Languages and vocabularies. */

function languages(records) {
  const { names } = records;
  if (records.languages === null) return el("section", { id: "compare-languages" }, el("h2", null, "The same seven sentences in thirteen languages"), waits());
  const byCode = new Map();
  for (const row of records.languages) {
    if (!byCode.has(row.code)) byCode.set(row.code, { name: row.source, script: row.script });
    const place = names.indexOf(row.tokenizer);
    Object.assign(byCode.get(row.code), { [`tokens${place}`]: row.tokens, [`parity${place}`]: row.parity, [`density${place}`]: row.bytes_per_token });
  }
  return el("section", { id: "compare-languages" }, el("h2", null, "The same seven sentences in thirteen languages"),
    table({
      caption: "Tokens of each language, and how many times as many as of English", rows: [...byCode.values()],
      columns: [
        { key: "name", title: "language" }, { key: "script", title: "script", format: (script) => el("span", { class: "nowrap" }, script) },
        ...names.flatMap((name, i) => [{ key: `tokens${i}`, title: name, number: true }, { key: `parity${i}`, title: "× English", number: true, format: (value) => `${ratio(value)} ×` }]),
      ],
    }),
    el("p", { class: "note" }, "Written for byteloom and translated for it. Seven sentences show which scripts a vocabulary was made for; they are too few to rank tokenizers that are close."));
}

const waits = () => el("p", { class: "soft", role: "status" }, "Large vocabularies are being read …");

function overlaps(records) {
  if (records.names.length < 2) return null;
  const title = el("h2", null, "What the vocabularies share");
  if (records.overlaps === null) return el("section", null, title, waits());
  return el("section", null, title,
    el("p", { class: "note" }, "Two tokens are the same where their bytes are. Special tokens are not counted. A and B are the two tokenizers of a row."),
    table({
      caption: "Tokens in both vocabularies, and in only one", sortable: false, rows: records.overlaps,
      columns: [
        { key: "a", title: "A", format: named }, { key: "b", title: "B", format: named }, { key: "shared", title: "in both", number: true }, { key: "only_a", title: "only in A", number: true },
        { key: "only_b", title: "only in B", number: true }, { key: "jaccard", title: "in both, of all", number: true, format: (value) => `${ratio(100 * value, 1)} %` },
      ],
    }));
}

/* What it costs: tokens from the records, prices from the reader. */

const PRICES = { input: 1, output: 4, calls: 1000, answer: 200, window: 8192 };

function amount(value, name) {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 1e12 ? value : PRICES[name];
}

function costState(ctx) {
  const { cost } = ctx.view;
  const given = cost !== null && typeof cost === "object" ? cost : {};
  const prices = given.prices !== null && typeof given.prices === "object" ? given.prices : {};
  return {
    calls: amount(given.calls, "calls"), answer: amount(given.answer, "answer"), window: Math.max(1, amount(given.window, "window")),
    dated: typeof given.dated === "string" && /^\d{4}-\d\d-\d\d$/.test(given.dated) ? given.dated : "",
    prices: Object.fromEntries(ctx.records.names.map((name) => [name, { input: amount(prices[name]?.input, "input"), output: amount(prices[name]?.output, "output") }])),
  };
}

const today = () => {
  const now = new Date();
  return [now.getFullYear(), String(now.getMonth() + 1).padStart(2, "0"), String(now.getDate()).padStart(2, "0")].join("-");
};

function costSection(ctx) {
  const section = el("section", { id: "compare-cost", class: "cost" });
  const bill = el("div");
  const dated = el("span");
  const state = costState(ctx);

  function save(priced) {
    if (priced) state.dated = today();
    ctx.view.cost = state;
    ctx.remember({ cost: state });
    results();
  }
  const field = (id, label, value, store, priced) => {
    const input = el("input", { type: "number", min: 0, step: "any", id, "aria-label": label, on: { input: () => {
      const next = Number(input.value);
      if (input.value.trim() === "" || !(next >= 0 && next <= 1e12)) return;
      store(next);
      save(priced);
    } } });
    input.value = value;
    return input;
  };

  function results() {
    fill(dated, state.dated ? `Prices entered on ${state.dated}.` : "Example prices, of no real model: type in those that you pay.");
    const money = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: value !== 0 && value < 0.01 ? 8 : 2 });
    fill(bill,
      table({
        caption: "Cost, in the currency of the prices", sortable: false,
        rows: ctx.records.figures.map((row) => {
          const price = state.prices[row.tokenizer];
          const call = (row.tokens * price.input + state.answer * price.output) / 1e6;
          return { name: row.tokenizer, tokens: row.tokens, call, day: call * state.calls, month: call * state.calls * 30 };
        }),
        columns: [
          { key: "name", title: "tokenizer", format: named }, { key: "tokens", title: "tokens in", number: true },
          ...["call", "day", "month"].map((key) => ({ key, title: key === "month" ? "30 days" : `a ${key}`, number: true, format: money })),
        ],
      }),
      el("h3", null, `How much of a context window of ${count(state.window)} tokens that takes`),
      el("ul", { class: "windows" }, ctx.records.figures.map((row) => {
        const used = row.tokens + state.answer;
        const part = used / state.window;
        return el("li", null, el("span", null, row.tokenizer),
          el("span", { class: ["meter", part > 1 && "over"], "aria-hidden": "true", style: { "--in": Math.min(1, row.tokens / state.window), "--out": Math.min(1, part) } }, el("span", { class: "out" }), el("span", { class: "in" })),
          el("span", null, part > 1 ? `✗ does not fit: ${ratio(100 * part, 1)} %` : `✓ fits: ${ratio(100 * part, 1)} %`, el("span", { class: "soft" }, ` (${count(row.tokens)} in, ${count(state.answer)} out)`)));
      })));
  }

  fill(section, el("h2", null, "Cost and context window"),
    el("p", { class: "note" }, "Tokens are counted by the tokenizers above; another model's own tokenizer counts differently. ", dated),
    table({
      caption: "Prices for a million tokens", sortable: false, rows: ctx.records.names.map((name, i) => ({ name, i })),
      columns: [
        { key: "name", title: "tokenizer", format: named },
        { key: "i", title: "in (what you send)", format: (i, row) => field(`compare-input-${i}`, `Price of a million tokens in, ${row.name}`, state.prices[row.name].input, (value) => { state.prices[row.name].input = value; }, true) },
        { key: "name", title: "out (the answer)", format: (_, row) => field(`compare-output-${row.i}`, `Price of a million tokens out, ${row.name}`, state.prices[row.name].output, (value) => { state.prices[row.name].output = value; }, true) },
      ],
    }),
    el("div", { class: "fields" },
      [["calls", "Calls a day"], ["answer", "Tokens of an answer"], ["window", "Tokens of the context window"]].map(([name, label]) =>
        el("div", { class: "field number" }, el("label", { for: `compare-${name}` }, label), field(`compare-${name}`, label, state[name], (value) => { state[name] = name === "window" ? Math.max(1, value) : value; }, false),
          name === "answer" && el("small", { class: "hint" }, "An assumption, the same for all tokenizers: type what your answers take.")))),
    bill);
  results();
  return section;
}

const drawn = {}; // what the last key need not change

function render(root, ctx) {
  context = ctx;
  const { records } = ctx;
  keep(kept, root, build);
  drawChoices(ctx);
  const active = document.activeElement?.id;
  settle(kept.stage,
    el("p", { data: { figure: "agreement" } }, agreement(records)),
    rows(ctx),
    records.left_out_bytes > 0 && el("p", { class: "note" }, `Drawn are the first ${plural(records.drawn_bytes, "byte")}; the figures are of all ${count(records.drawn_bytes + records.left_out_bytes)}.`),
    memo(drawn, "legend", true, () => el("ul", { class: "legend" },
      el("li", null, el("span", { class: "chip ringed", "aria-hidden": "true" }, "ab"), " dashed ring: not every tokenizer has this token here"),
      el("li", null, el("span", { class: "chip", "aria-hidden": "true" }, "ab"), " no ring: the same token for all; the colours only tell neighbours apart"))),
    memo(drawn, "differences", [records.names, records.differences, records.boundaries.differing_spans], () => differences(records)),
    memo(drawn, "figures", records.figures, () => figuresTable(records)),
    memo(drawn, "cost", [records.figures, ctx.view.cost], () => costSection(ctx)),
    memo(drawn, "languages", [records.names, records.languages], () => languages(records)),
    memo(drawn, "overlaps", [records.names, records.overlaps], () => overlaps(records)));
  if (records.pending) setTimeout(() => { if (kept.stage.isConnected) context.set({}); }, 400);
  if (active?.startsWith("compare-")) document.getElementById(active)?.focus({ preventScroll: true });
}

export default {
  id: "compare",
  title: "Compare",
  about: "The same text in the tokens of several tokenizers: where they cut, how many they need, which languages they serve, and what that costs.",
  options, cards, render, keeps: true,
};
