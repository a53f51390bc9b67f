/* Vocabulary: the tokens themselves, to search, to sort by length and kind, and to find those that do nothing. */

import { barChart } from "../lib/chart.js";
import { chip } from "../lib/chips.js";
import { el, fill, memo, settle } from "../lib/dom.js";
import { fields, keep } from "../lib/fields.js";
import { count, plural, ratio, visibleBytes } from "../lib/signs.js";
import { facts, table } from "../lib/table.js";

export const options = { list: "merged", query: "", by: "text", kind: "", page: 0 };

export const cards = [
  {
    id: "vocabulary-longest", title: "A vocabulary tells what it read",
    setup: { options: { list: "longest" }, tokenizer: "built-in, English" },
    look: "The longest tokens are the words that were frequent in the training text: weaver, thread, valley. Whoever reads a vocabulary learns what its text was about. Most of them begin with a space (·), which is part of the token.",
  },
  {
    id: "vocabulary-search", title: "One word, several tokens",
    setup: { options: { list: "search", query: "the" }, tokenizer: "built-in, English" },
    look: "Every token that holds these three letters has an id of its own: with the space before it, and as the beginning of longer words. To the model they are different numbers; what they share it has to learn.",
  },
  {
    id: "vocabulary-unused", title: "What a text leaves unused",
    setup: { text: "The weaver looks at the thread, and the thread is thin.", options: { list: "unused" }, tokenizer: "built-in, English" },
    look: "A sentence uses only a few tokens of the vocabulary, so this list is long and says little. Paste a large sample of your own text: a token that stays unused then takes up room that another token would use better.",
  },
  {
    id: "vocabulary-parts", title: "Tokens that are no text",
    setup: { options: { list: "kind", kind: "partial" }, tokenizer: "built-in, 13 languages" },
    look: "These tokens are parts of characters: a byte of Arabic, two of a Han sign. They are why nothing is ever unknown, and why a single token cannot always be shown as text. Decode them together, not one by one.",
  },
  {
    id: "vocabulary-unreachable", title: "Can every token be reached?",
    setup: { options: { list: "unreachable" }, tokenizer: "built-in, English" },
    look: "None: encoding the bytes of any token of this vocabulary gives that token back. That holds for a vocabulary and merges that were learned together. Tokens added later from elsewhere, or a pattern that was changed later, show up here.",
  },
];

const LISTS = [
  ["merged", "merged tokens"], ["search", "all tokens, or what you search"], ["longest", "longest tokens"], ["kind", "tokens of one kind"],
  ["used", "tokens that your text uses"], ["unused", "tokens that your text does not use"], ["unreachable", "tokens that no text gives"],
];
const ABOUT = {
  merged: "Each was made in training by joining two shorter tokens. They stand by id; in most tokenizers that is the order of learning, the most frequent pair first. Single bytes and special tokens are left out.",
  search: "All tokens by id, the single bytes and special tokens too; or only those that hold what you search.",
  longest: "The tokens of most bytes first. A long token is a piece of text that the training text repeated often.",
  kind: "The kind of a token is the script of its letters, such as Latin or Han. Tokens without letters are digits, white space, punctuation and symbols, or control characters. Bytes that are only a part of a character are a kind of their own.",
  used: "The tokens that encoding your text gives, the most frequent first.",
  unused: "The tokens that encoding your text does not give. After a sentence that is nearly all of them and means nothing; after a large sample of what the tokenizer is meant for, they are tokens it could do without.",
  unreachable: "Tokens that encoding never gives: merging their own bytes ends in other tokens. Such a token has an id, and no text uses it.",
};
const SPECS = [
  { name: "list", label: "Show", kind: "select", choices: LISTS },
  { name: "query", label: "Search for", kind: "search" },
  { name: "by", label: "as", kind: "select", choices: [["text", "text"], ["hex", "bytes in hex, such as e2 98"], ["id", "an id"]], shown: (values) => values.list === "search" },
  { name: "kind", label: "Kind", kind: "select", choices: [["", ""]], shown: (values) => values.list === "kind" },
];
const KINDS = { partial: "parts of characters", signs: "punctuation and symbols", controls: "control characters", space: "white space", special: "special tokens", mixed: "several scripts" };
const kindName = (kind) => KINDS[kind] ?? kind;
const REASONS = { merges: "merging its bytes ends in other tokens", duplicate: "another id has the same bytes", pattern: "the pattern cuts inside it" };

const kept = {};
let context = null;

function build() {
  kept.form = fields("vocabulary", SPECS, (name, value) => context.set({ [name]: value, page: 0, ...(name === "query" ? { list: "search" } : {}) }));
  kept.form.node.classList.add("stacked");
  return kept.form.node;
}

function columns(kind) {
  const shared = [
    { key: "id", title: "id", number: true, format: String },
    { key: "bytes", title: "token", format: (bytes, row) => chip({ bytes }, { kind: row.special ? "special" : "token", class: row.length <= 24 && "nowrap" }), sort: (row) => visibleBytes(row.bytes) },
    { key: "length", title: "bytes", number: true },
  ];
  if (kind === "used") return [...shared, { key: "count", title: "times in your text", number: true }, { key: "first", title: "first as token number", number: true }];
  if (kind === "unreachable") return [...shared, { key: "reason", title: "why", format: (reason) => REASONS[reason] ?? reason }, { key: "ids", title: "its bytes give", format: (ids) => ids.join(" ") }];
  return [...shared, { key: "hex", title: "in hex", format: (hex) => el("span", { class: "mono" }, hex) }, { key: "script", title: "kind", format: (kind) => el("span", { class: "nowrap" }, kindName(kind)) }];
}

function listTable({ records, options }) {
  const { entries, first, found, list } = records;
  const { query, by } = options;
  const searched = by === "id" ? `The token of id ${query}` : `Tokens that hold ${by === "hex" ? `the bytes ${query}` : `"${query}"`}`;
  const name = list !== "search" ? LISTS.find(([id]) => id === list)[1] : query ? searched : "All tokens";
  const last = first + entries.length;
  const rows = entries.map((entry) => ({ ...entry, length: entry.bytes.length / 2, hex: entry.bytes.slice(0, 32).replace(/../g, "$& ").trim().toUpperCase() + (entry.bytes.length > 32 ? " …" : "") }));
  if (found === 0) return el("p", { class: "verdict", data: { found: 0 } }, list === "unreachable" ? "✓ None: encoding the bytes of a token gives that token, for every token." : "None.");
  return el("div", { data: { found } }, table({ caption: `${name[0].toUpperCase()}${name.slice(1)}: ${count(first + 1)} to ${count(last)} of ${count(found)}`, rows, limit: 100, columns: columns(list) }));
}

function pager(ctx) {
  const { first, found, page_size: size } = ctx.records;
  if (found <= size) return null;
  const page = first / size;
  const last = Math.ceil(found / size) - 1;
  const turn = (to, label, id, off) => el("button", { type: "button", id, disabled: off || !ctx.live, on: { click: () => ctx.set({ page: to }) } }, label);
  return el("nav", { class: "pager", "aria-label": "Pages of the list" }, turn(page - 1, "← previous", "vocabulary-before", page === 0), ` page ${count(page + 1)} of ${count(last + 1)} `, turn(page + 1, "next →", "vocabulary-after", page === last));
}

function figures({ records }) {
  const { usage } = records;
  return facts([
    ["tokens", el("span", { data: { figure: "size" } }, count(records.size))],
    ["merged tokens", count(records.merged)],
    ["special tokens", count(records.special)],
    ["used by your text", el("span", { data: { figure: "used" } }, `${count(usage.used)} of ${count(usage.vocabulary)} (${ratio(100 * usage.share, 1)} %)`)],
    ["not used by it", el("span", { data: { figure: "never" } }, count(usage.never))],
  ], true);
}

function lengths({ records }) {
  const most = 24;
  const longest = Math.max(1, ...records.lengths.map(([length]) => length));
  const bars = Array.from({ length: Math.min(most, longest) }, (_, i) => ({ label: String(i + 1), value: 0 }));
  for (const [length, amount] of records.lengths) if (length > 0) bars[Math.min(length, bars.length) - 1].value += amount;
  if (longest > most) bars[most - 1].label = `${most}+`;
  return barChart({ label: "How long the tokens are", x: { title: "bytes of a token" }, y: { title: "tokens" }, bars, height: 190, width: 420 });
}

function kinds(ctx) {
  const { records } = ctx;
  return table({
    caption: "Tokens by kind", rows: records.kinds.map((row) => ({ ...row, _class: row.kind === records.kind ? "on" : null, ...(ctx.live ? { _inspect: () => ctx.set({ list: "kind", kind: row.kind, page: 0 }) } : {}) })), limit: 30,
    columns: [
      { key: "kind", title: "kind", format: kindName }, { key: "tokens", title: "tokens", number: true },
      { key: "share", title: "share", number: true, format: (value) => `${ratio(100 * value, 1)} %` },
      { key: "share", title: "", format: (value) => el("span", { class: "meter small", "aria-hidden": "true", style: { "--in": value, "--out": 0 } }, el("span", { class: "in" })) },
    ],
  });
}

const drawn = {}; // what the last key need not change

function render(root, ctx) {
  context = ctx;
  keep(kept, root, build);
  const { records } = ctx;
  if (records.pending) {
    kept.form.update(ctx.options, { live: ctx.live });
    settle(kept.stage, el("p", { class: "notice", role: "status" }, records.pending));
    setTimeout(() => { if (kept.stage.isConnected) ctx.set({}); }, 400);
    return;
  }
  const { list, kind, first, found } = records;
  kept.form.update({ ...ctx.options, query: list === "search" ? ctx.options.query : "", kind: kind ?? ctx.options.kind }, { live: ctx.live, choices: { kind: records.kinds.map((row) => [row.kind, `${kindName(row.kind)} (${count(row.tokens)})`]) } });
  const active = document.activeElement?.id;
  if (!kept.list?.isConnected) {
    for (const part of ["top", "list", "side"]) kept[part] = el("div", { class: part === "top" && "long" });
    fill(kept.stage, kept.top, el("div", { class: "side-by-side" }, kept.list, kept.side));
  }
  settle(kept.top, memo(drawn, "figures", [records.usage, records.size], () => figures(ctx)));
  settle(kept.list,
    memo(drawn, "about", list, () => el("p", { class: "soft", id: "vocabulary-about" }, ABOUT[list])),
    memo(drawn, "list", [list, kind, first, found, records.entries, ctx.options.query, ctx.options.by], () => [listTable(ctx), pager(ctx)]));
  settle(kept.side,
    memo(drawn, "lengths", [records.lengths, document.documentElement.clientWidth], () => [lengths(ctx), el("p", { class: "note" }, "Special tokens have no bytes of their own and are not in this chart.")]),
    memo(drawn, "kinds", [records.kinds, kind], () => kinds(ctx)));
  if (active?.startsWith("vocabulary-")) document.getElementById(active)?.focus({ preventScroll: true });
}

export default {
  id: "vocabulary",
  title: "Vocabulary",
  about: "A vocabulary is a list of byte strings with numbers. Its tokens show what it was trained on, and which of them a text needs.",
  options, cards, render, keeps: true,
};
