/* Vocabulary: the tokens themselves, to search, to sort by length and script, and to find those that do nothing. */

import { barChart } from "../lib/chart.js";
import { chip } from "../lib/chips.js";
import { el, fill } from "../lib/dom.js";
import { fields, keep } from "../lib/fields.js";
import { count, plural, ratio, visibleBytes } from "../lib/signs.js";
import { facts, table } from "../lib/table.js";

export const options = { list: "search", query: "", by: "text", script: "", page: 0 };

export const cards = [
  {
    id: "vocabulary-longest", title: "A vocabulary tells what it read",
    setup: { options: { list: "longest" }, tokenizer: "built-in, English" },
    look: "The longest tokens are the words that were frequent in the training text: weaver, thread, valley. Whoever reads a vocabulary learns what its text was about. Most of them begin with a space, which rides with its word.",
  },
  {
    id: "vocabulary-search", title: "One word, several tokens",
    setup: { options: { list: "search", query: "the" }, tokenizer: "built-in, English" },
    look: "Every token that holds these three letters has an id of its own: with the space before it, and as the beginning of longer words. To the model they have nothing in common but what it learns.",
  },
  {
    id: "vocabulary-unused", title: "What a text leaves untouched",
    setup: { text: "The weaver looks at the thread, and the thread is thin.", options: { list: "unused" }, tokenizer: "built-in, English" },
    look: "A sentence uses only a few tokens of the vocabulary. On a large sample of your own text, what stays unused is room that another vocabulary would use better.",
  },
  {
    id: "vocabulary-parts", title: "Tokens that are no text",
    setup: { options: { list: "script", script: "partial" }, tokenizer: "built-in, 13 languages" },
    look: "These tokens are parts of characters: a byte of Arabic, two of a Han sign. They are why nothing is ever unknown, and why a single token cannot always be shown as text. Decode them together, not one by one.",
  },
  {
    id: "vocabulary-unreachable", title: "Can every token be reached?",
    setup: { options: { list: "unreachable" }, tokenizer: "built-in, English" },
    look: "None: each token of this vocabulary is what its own bytes give. That holds for a vocabulary and merges that were learned together. Tokens pasted in from elsewhere, or a pattern that was changed later, show up here.",
  },
];

const LISTS = [
  ["search", "all, or those that match a search"], ["longest", "the longest"], ["script", "of one script"], ["used", "used by the text, most often first"],
  ["unused", "not used by the text"], ["unreachable", "unreachable: no text gives them"],
];
const SPECS = [
  { name: "list", label: "List tokens", kind: "select", choices: LISTS },
  { name: "query", label: "Search", kind: "search", shown: (values) => values.list === "search" },
  { name: "by", label: "for", kind: "select", choices: [["text", "text"], ["hex", "bytes, such as e2 98"], ["id", "an id"]], shown: (values) => values.list === "search" },
  { name: "script", label: "Script", kind: "select", choices: [["", ""]], shown: (values) => values.list === "script" },
];
const REASONS = { merges: "merging its bytes ends elsewhere", duplicate: "another id has the same bytes", pattern: "the pattern splits it" };

const kept = {};
let context = null;

function build() {
  kept.form = fields("vocabulary", SPECS, (name, value) => context.set({ [name]: value, page: 0 }));
  return kept.form.node;
}

function columns(kind) {
  const shared = [
    { key: "id", title: "id", number: true, format: String },
    { key: "bytes", title: "token", format: (bytes, row) => chip({ bytes }, { kind: row.special ? "special" : "token" }), sort: (row) => visibleBytes(row.bytes) },
    { key: "length", title: "bytes", number: true },
  ];
  if (kind === "used") return [...shared, { key: "count", title: "times", number: true }, { key: "first", title: "first at token", number: true }];
  if (kind === "unreachable") return [...shared, { key: "reason", title: "why", format: (reason) => REASONS[reason] ?? reason }, { key: "ids", title: "its bytes give", format: (ids) => ids.join(" ") }];
  return [...shared, { key: "hex", title: "in hex", format: (hex) => el("span", { class: "mono" }, hex) }, { key: "script", title: "script", format: (script) => el("span", { class: "nowrap" }, script) }];
}

function listTable({ records }) {
  const { entries, first, found, list } = records;
  const name = LISTS.find(([id]) => id === list)[1];
  const last = first + entries.length;
  const rows = entries.map((entry) => ({ ...entry, length: entry.bytes.length / 2, hex: entry.bytes.slice(0, 64).replace(/../g, "$& ").trim().toUpperCase() + (entry.bytes.length > 64 ? " …" : "") }));
  if (found === 0) return el("p", { class: "verdict", data: { found: 0 } }, list === "unreachable" ? "✓ None: every token is what its own bytes give." : "None.");
  return el("div", { data: { found } }, table({ caption: `Tokens: ${name} (${count(first + 1)} to ${count(last)} of ${count(found)})`, rows, limit: 100, columns: columns(list) }));
}

function pager(ctx) {
  const { first, found, page_size: size } = ctx.records;
  if (found <= size) return null;
  const page = first / size;
  const last = Math.ceil(found / size) - 1;
  const turn = (to, label, id, off) => el("button", { type: "button", id, disabled: off || !ctx.live, on: { click: () => ctx.set({ page: to }) } }, label);
  return el("nav", { class: "pager", "aria-label": "Pages of the list" }, turn(page - 1, "← before", "vocabulary-before", page === 0), ` page ${count(page + 1)} of ${count(last + 1)} `, turn(page + 1, "after →", "vocabulary-after", page === last));
}

function figures({ records }) {
  const { usage } = records;
  return facts([
    ["tokens", el("span", { data: { figure: "size" } }, count(records.size))],
    ["special tokens", count(records.special)],
    ["used by the text", el("span", { data: { figure: "used" } }, `${count(usage.used)} of ${count(usage.vocabulary)} (${ratio(100 * usage.share, 1)} %)`)],
    ["not used", el("span", { data: { figure: "never" } }, count(usage.never))],
  ]);
}

function lengths({ records }) {
  const most = 24;
  const longest = Math.max(1, ...records.lengths.map(([length]) => length));
  const bars = Array.from({ length: Math.min(most, longest) }, (_, i) => ({ label: String(i + 1), value: 0 }));
  for (const [length, amount] of records.lengths) if (length > 0) bars[Math.min(length, bars.length) - 1].value += amount;
  if (longest > most) bars[most - 1].label = `${most}+`;
  return barChart({ label: "How long the tokens are", x: { title: "bytes of a token" }, y: { title: "tokens" }, bars, height: 190 });
}

function scripts(ctx) {
  const { records } = ctx;
  return table({
    caption: "Tokens by script", rows: records.scripts.map((row) => ({ ...row, _class: row.script === records.script ? "on" : null, ...(ctx.live ? { _inspect: () => ctx.set({ list: "script", script: row.script, page: 0 }) } : {}) })), limit: 30,
    columns: [
      { key: "script", title: "script" }, { key: "tokens", title: "tokens", number: true },
      { key: "share", title: "share", number: true, format: (value) => `${ratio(100 * value, 1)} %` },
      { key: "share", title: "", format: (value) => el("span", { class: "meter small", "aria-hidden": "true", style: { "--in": value, "--out": 0 } }, el("span", { class: "in" })) },
    ],
  });
}

function render(root, ctx) {
  context = ctx;
  keep(kept, root, build);
  const { records } = ctx;
  kept.form.update({ ...ctx.options, script: records.script ?? ctx.options.script }, { live: ctx.live, choices: { script: records.scripts.map((row) => [row.script, `${row.script} (${count(row.tokens)})`]) } });
  const active = document.activeElement?.id;
  fill(kept.stage,
    figures(ctx),
    el("div", { class: "side-by-side" }, el("div", null, listTable(ctx), pager(ctx)), el("div", null, lengths(ctx), scripts(ctx))),
    el("p", { class: "note" }, `The text has ${plural(records.usage.tokens, "token")}; it is the sample for what is used. “partial” are parts of characters, “signs” punctuation and symbols. The length in bytes leaves special tokens out.`));
  if (active?.startsWith("vocabulary-")) document.getElementById(active)?.focus({ preventScroll: true });
}

export default {
  id: "vocabulary",
  title: "Vocabulary",
  about: "A vocabulary is a list of byte strings with numbers. Its tokens show what it was trained on, and which of them a text needs.",
  options, cards, render, keeps: true,
};
