/* Train: a tokenizer learns from the text at hand, one merge after another. */

import { lineChart } from "../lib/chart.js";
import { chip, strip } from "../lib/chips.js";
import { el, fill } from "../lib/dom.js";
import { lazy, part } from "../lib/parts.js";
import { count, plural, visibleBytes } from "../lib/signs.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const text = "the low loom, the lower loom, the lowest loom. the new thread, the newer thread, the newest thread. the wide cloth, the wider cloth, " +
  "the widest cloth. the lowest thread of the newest cloth on the widest loom.";

export const options = { vocab_size: 280, pattern: "gpt2", tie_break: "smallest_pair", min_frequency: 2, corpus: "text", merge: 0 };

export const cards = [
  {
    id: "rounds",
    title: "Count, merge, repeat",
    setup: { text: "aaabdaaabac", options: { vocab_size: 259, pattern: "none", tie_break: "first_seen", merge: 0 } },
    look: "A short text that many explanations use. aa occurs 4 times, overlaps counted, and is merged. Step further: " +
      "at merge 2 two pairs tie with 2 occurrences each, and after three merges the 11 bytes are 5 tokens.",
  },
  {
    id: "code",
    title: "What it learns from a program",
    setup: {
      text: "class Loom:\n    def __init__(self, width):\n        self.width = width\n        self.threads = []\n\n    def add(self, thread):\n        self.threads.append(thread)\n" +
        "        return self\n\n    def row(self, number):\n        return self.threads[number]\n\n    def count(self):\n        return len(self.threads)\n",
      options: { vocab_size: 300, pattern: "cl100k", merge: 44 },
    },
    look: "Among the tokens: two and four spaces of indentation first of all, then self, ·def, ·return and thread. What a text repeats is what the vocabulary becomes.",
  },
  {
    id: "ties",
    title: "Change the rule for ties",
    setup: {
      text: "low low low low low lower lower newest newest newest newest newest newest widest widest widest",
      options: { vocab_size: 270, pattern: "simple", tie_break: "smallest_pair", merge: 4 },
    },
    look: "At merge 5 three pairs occur 6 times each: a tie. The rule \"smaller ids\" chooses e + w; the rule \"first in the text\" chooses n + e. Change the rule: from there on " +
      "the two tokenizers differ, though both took a most frequent pair every time.",
  },
  {
    id: "sizes",
    title: "A smaller vocabulary is the beginning of a larger one",
    setup: {
      text: "The weavers keep their looms in the long house by the river, and the light comes in low in the morning. The oldest weaver walks from loom to loom and looks at every thread. " +
        "When two threads lie side by side again and again, she twists them into one. Then she looks again, and the new thread lies beside another thread.",
      options: { vocab_size: 340, merge: 20 },
    },
    look: "Move the slider. At every size the tokens are exactly those that training to that size gives, because the first merges are the same. " +
      "The curve rises fast and then flattens: early merges save the most tokens.",
  },
  {
    id: "once",
    title: "Nothing repeats, nothing is learned",
    setup: { text: "Sphinx of black quartz, judge my vow.", options: { vocab_size: 300 } },
    look: "300 tokens were asked for, and training stops at 256, the bytes: no pair occurs twice inside the words. Set the least count to 1, and every word of this text becomes a token, which helps no other text.",
  },
];

const CORPORA = { text: "the text in the box", english: "a page of English" };
const TIES = { smallest_pair: "smaller ids", first_seen: "first in the text", huggingface: "as Hugging Face" };
const STOPPED = { vocab_size: "the size was reached", min_frequency: "no pair occurs often enough any more", no_pairs: "no pair is left" };
const NEWEST = 48;
const FEW = 12; // merges that are too few to see much

const kept = {};

function build() {
  kept.controls = el("div");
  kept.summary = el("div");
  kept.walk = el("div");
  kept.round = el("div", { id: "round" });
  kept.sample = el("div", { id: "sample" });
  kept.vocabulary = el("div", { id: "vocabulary" });
  kept.curve = el("div", { id: "curve", class: "below" });
  kept.table = lazy("all merges as a table", () => twin(kept.ctx.records));
}

function draw(done) {
  const { ctx } = kept;
  const { records } = ctx;
  const step = records.steps[done];
  part(kept.round, [done, step, records.stopped, records.tie_break], () => drawRound(records, done));
  part(kept.sample, [done, records.sample, records.sample_cut], () => drawSample(records, done));
  part(kept.vocabulary, [done, records.steps.slice(Math.max(0, done - NEWEST), done)], () => drawVocabulary(ctx, done));
  const open = kept.curve.querySelector("details")?.open;
  part(kept.curve, [done, records.curve], () => drawCurve(records, done));
  if (open) kept.curve.querySelector("details").open = true;
}

export function render(root, ctx) {
  const { records } = ctx;
  kept.ctx = ctx;
  if (!kept.round) build();
  if (kept.round.parentNode !== root) fill(root, kept.controls, kept.summary, kept.walk, kept.round, kept.sample, kept.vocabulary, kept.curve, kept.table);
  const last = records.steps.length;
  const wanted = ctx.view.merge ?? ctx.options.merge;
  const done = Number.isInteger(wanted) ? Math.max(0, Math.min(wanted, last)) : 0;
  part(kept.controls, [ctx.wanted, ctx.live, records.patterns, records.ties], () => controls(ctx));
  part(kept.summary, [records.bytes, records.pretokens, records.unique_pretokens, last, records.stopped, records.tied, records.left_out, ctx.options.corpus, ctx.live], () => [summary(records), short(ctx)]);
  part(kept.walk, last, () => last > 0 && walk(last, done));
  const steps = kept.walk.firstChild?.stepper;
  if (steps && steps.value() !== done) steps.go(done);
  draw(done);
  lazy.update(kept.table, () => twin(kept.ctx.records));
}

function walk(last, done) {
  return stepper({
    label: "Vocabulary size", count: last + 1, value: done, speed: 500,
    say: (now) => `size ${count(256 + now)}: ${plural(now, "merge")} of ${count(last)}`,
    onStep: (now) => { draw(now); kept.ctx.remember({ merge: now }); },
  });
}

function controls(ctx) {
  const { records, wanted: now } = ctx;
  const locked = { disabled: !ctx.live };
  const builtIn = records.patterns.includes(now.pattern);
  const number = (name, label, least, most) => el("label", null, label, el("input", { type: "number", id: name, min: least, max: most, step: 1, value: now[name], ...locked, on: { change: (event) => {
    const value = Math.max(least, Math.min(most, Math.round(Number(event.target.value)) || least));
    ctx.set({ [name]: value });
  } } }));
  return [el("div", { class: "controls" },
    el("label", null, "train on", el("select", { id: "corpus", ...locked, on: { change: (event) => ctx.set({ corpus: event.target.value }) } },
      Object.entries(CORPORA).map(([name, title]) => el("option", { value: name, selected: name === now.corpus }, title)))),
    number("vocab_size", "size", 256, 1024),
    el("label", null, "pattern", el("select", { id: "pattern", ...locked, on: { change: (event) => ctx.set({ pattern: event.target.value }) } },
      records.patterns.map((name) => el("option", { value: name, selected: name === now.pattern }, name)), !builtIn && el("option", { value: now.pattern, selected: true }, now.pattern))),
    el("label", null, "ties", el("select", { id: "tie_break", ...locked, on: { change: (event) => ctx.set({ tie_break: event.target.value }) } },
      records.ties.map((name) => el("option", { value: name, selected: name === now.tie_break }, TIES[name])))),
    number("min_frequency", "least count", 1, 1000)),
  ];
}

function short(ctx) {
  if (ctx.options.corpus !== "text" || !ctx.live || ctx.records.steps.length >= FEW) return null;
  return el("p", { class: "note" }, "A short text teaches little. ", el("button", { type: "button", id: "longer", on: { click: () => kept.ctx.set({ corpus: "english" }) } }, "Train on a page of English"), " or paste a longer one.");
}

function summary(records) {
  return facts([
    ["text", `${plural(records.bytes, "byte")}, ${plural(records.pretokens, "pre-token")} (${count(records.unique_pretokens)} different)`],
    ["learned", `${plural(records.steps.length, "merge")}, ${count(records.vocab_size)} tokens`],
    ["stopped because", STOPPED[records.stopped] ?? records.stopped],
    ["decided by a tie rule", `${count(records.tied)} of ${plural(records.steps.length, "merge")}`],
    records.left_out > 0 && ["left out", `${plural(records.left_out, "character")} at the end`],
  ], true);
}

const pair = (one) => el("span", { class: "nowrap" }, chip(one.left, { kind: "plain" }), " + ", chip(one.right, { kind: "plain" }));

/* The round that comes next: the winner, those behind it, and why it won. */
function drawRound(records, done) {
  const step = records.steps[done];
  if (!step) {
    return [el("h2", null, done === 0 ? "Nothing to merge" : `After ${plural(done, "merge")}`), el("p", { id: "reason" }, `Training ended: ${STOPPED[records.stopped] ?? records.stopped}.`,
      done > 0 && " Go back to watch a merge being chosen.")];
  }
  const tied = step.tied > 1;
  const more = step.tied - 1 - step.runners_up.filter((other) => other.count === step.count).length;
  const tie = (other) => (other.count === step.count ? "tied, loses by the rule" : `no: ${count(step.count - other.count)} fewer`);
  const rows = [
    { place: el("span", { class: "nowrap" }, "→ next"), pair: pair(step), count: step.count, tie: tied ? "tied, wins by the rule" : "no: the most frequent", ids: `${step.left.id}, ${step.right.id}`, _class: "on" },
    ...step.runners_up.map((other, place) => ({ place: place + 2, pair: pair(other), count: other.count, tie: tie(other), ids: `${other.left.id}, ${other.right.id}` })),
  ];
  return [
    el("h2", null, `Next, merge ${count(done + 1)}: `, pair(step), " → ", chip(step.result, { kind: "plain" }), `, id ${step.result.id}`),
    el("p", { id: "reason" }, reason(records, step)),
    table({ caption: "The most frequent pairs", rows, sortable: false, columns: [
      { key: "place", title: "" }, { key: "pair", title: "pair" }, { key: "count", title: "times", number: true }, { key: "tie", title: "tie?" }, { key: "ids", title: "ids", format: (ids) => el("span", { class: "nowrap" }, ids) }] }),
    more > 0 && el("p", { id: "more-tied" }, `and ${plural(more, "more pair occurs", "more pairs occur")} as often`),
    el("p", { class: "note" }, "A tie: two pairs occur equally often, more often than all others. Then the rule for ties decides, so that the same text always gives the same vocabulary."),
  ];
}

function reason(records, step) {
  if (step.tied === 1) {
    const next = step.runners_up[0];
    return `This pair of neighbours occurs ${plural(step.count, "time")}, more often than any other${next ? ` (the next one: ${plural(next.count, "time")})` : ""}: no tie.`;
  }
  const rules = {
    smallest_pair: `the smaller left id wins, then the smaller right id: ${step.left.id}, ${step.right.id}`,
    first_seen: "the one that comes first in the text wins",
    huggingface: "the smaller ids win, with bytes numbered in GPT-2's order (printable ones first)",
  };
  return `${count(step.tied)} pairs occur ${plural(step.count, "time")} each: a tie. By the rule for ties ${rules[records.tie_break]}.`;
}

function drawVocabulary(ctx, done) {
  const learned = ctx.records.steps.slice(0, done);
  const shown = learned.slice(-NEWEST).reverse();
  return [el("h2", null, `The vocabulary: 256 bytes and ${plural(done, "learned token")}`),
    done === 0 && el("p", { class: "note" }, "Nothing is learned yet. Play, or step forward: each merge adds one token, and its id is the next number."),
    shown.length > 0 && strip(shown.map((step, place) => chip(step.result, {
      shade: step.result.id, sub: String(step.result.id), kind: place === 0 ? "on" : "token",
      inspect: () => ctx.inspect(facts([["token", chip(step.result, { kind: "plain" })], ["id", count(step.result.id)], ["made of", pair(step)], ["occurred", plural(step.count, "time")], ["why", reason(ctx.records, step)]])),
    })), { label: "Learned tokens, the newest first" }),
    learned.length > shown.length && el("p", { class: "note" }, `and ${count(learned.length - shown.length)} that were learned before them`)];
}

/* The text in the tokens of this size. Merges inside a pre-token come in the order of their ranks, so those of a
   smaller vocabulary are the first of them. */
function drawSample(records, done) {
  const tokens = [];
  for (const part of records.sample) {
    let state = part.symbols.map(({ id, bytes }) => ({ id, bytes }));
    for (const step of part.steps) {
      if (step.rank >= done) break;
      state.splice(step.at, 2, { id: step.id, bytes: state[step.at].bytes + state[step.at + 1].bytes });
    }
    tokens.push(...state);
  }
  if (tokens.length === 0) return null;
  return [el("h2", null, "The text in tokens of this size"),
    records.sample_cut !== null && el("p", { class: "note" }, `The text begins with a pre-token that is too long to draw: here are its first ${plural(records.sample_cut, "byte")}, as a text of their own.`),
    strip(tokens.map((token) => chip(token, { shade: token.id < 256 ? undefined : token.id, kind: token.id < 256 ? "plain" : "token", title: `id ${token.id}` })), { label: "The beginning of the text in tokens", limit: 400, more: "tokens" })];
}

function drawCurve(records, done) {
  const points = records.curve.filter((point) => point.bytes_per_token !== null);
  if (points.length < 2) return null;
  return [lineChart({
    label: "Bytes per token at each vocabulary size", x: { title: "vocabulary size" }, y: { title: "bytes per token", from: 0 },
    series: [{ name: "bytes per token", points: points.map((point) => [point.vocab_size, point.bytes_per_token]) }],
    marks: [{ x: 256 + done, label: "" }], height: 220,
    onPick: (place) => kept.walk.firstChild?.stepper.go(points[place].merges),
  }), el("p", { class: "note" }, "Measured on the text it was trained on.")];
}

function twin(records) {
  return table({
    caption: "Merges in the order of learning", limit: 50, rows: records.steps.map((step, number) => ({ ...step, number: number + 1 })), columns: [
      { key: "number", title: "merge", number: true }, { key: "pair", title: "pair", format: (_, step) => pair(step), sort: (step) => step.result.bytes }, { key: "id", title: "id", number: true, format: (_, step) => count(step.result.id), sort: (step) => step.result.id },
      { key: "count", title: "times", number: true }, { key: "tied", title: "tie?", format: (tied) => (tied > 1 ? `${count(tied)} pairs` : "no"), sort: (step) => step.tied },
      { key: "next", title: "next", format: (_, step) => (step.runners_up[0] ? `${visibleBytes(step.runners_up[0].left.bytes)} + ${visibleBytes(step.runners_up[0].right.bytes)} (${count(step.runners_up[0].count)})` : "–"), sort: (step) => step.runners_up[0]?.count },
    ],
  });
}

export default {
  id: "train",
  title: "Train",
  about: "Training counts all pairs of neighbouring tokens inside the pre-tokens (pieces of about a word), makes the most frequent pair one new token, which is a merge, and begins again. " +
    "The order in which merges are learned is their rank. It is the library's own training, on the text in the box, with every choice recorded.",
  label: "Text to train on", tokenizer: false, text, options, cards, render, keeps: true,
};
