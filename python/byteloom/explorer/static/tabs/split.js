/* Split: where a pattern cuts, which alternative matched, and how two patterns differ. */

import { chip, signNodes, strip } from "../lib/chips.js";
import { el, folded, memo, settle } from "../lib/dom.js";
import { count, fromHex, plural, visibleBytes } from "../lib/signs.js";
import { facts, table } from "../lib/table.js";

export const options = { pattern: "", other: "", train: false };

export const cards = [
  {
    id: "contraction",
    title: "Take a contraction apart",
    setup: { text: "wouldn't've", options: { pattern: "gpt2" } },
    look: "Three pre-tokens: wouldn, 't and 've. The endings are alternatives of their own, tried before letters, so a vocabulary " +
      "learns 't once for all words that end in it.",
  },
  {
    id: "numbers",
    title: "Letters and numbers stay apart",
    setup: { text: "Route66 costs $1,024", options: { pattern: "gpt2" } },
    look: "Route and 66 are two pre-tokens; so are 1 and 024, with the comma between. No token Route66 or 1,024 can come out of this, " +
      "whatever the training text repeats.",
  },
  {
    id: "space",
    title: "The space goes with its word",
    setup: { text: "the the the", options: { pattern: "gpt2" } },
    look: "The first the has no space. Both others are ·the, space and word in one, so one token serves wherever a word follows another.",
  },
  {
    id: "retrain",
    title: "Another split, other merges",
    setup: {
      text: "The clerk can't sign it, the clerk won't sign it. She'll pay $20, he'll pay $20. They can't, they won't. She'll sign, he'll pay. " +
        "The clerk can't sign it, the clerk won't sign it. She'll pay $20, he'll pay $20. They can't, they won't. She'll sign, he'll pay.",
      options: { pattern: "gpt2", other: "simple", train: true },
    },
    look: "Both learn from the same text. With simple, whole stretches such as can't and $20, become tokens; with gpt2 the ending 't and " +
      "the number 20 stay apart. The merges differ, and both round trips are exact.",
  },
  {
    id: "underscores",
    title: "gpt2 and course-gpt2 are not the same",
    setup: { text: "x² foo_!bar naïve नमस्ते", options: { pattern: "gpt2", other: "course-gpt2" } },
    look: "gpt2 is the pattern of GPT-2; course-gpt2 is the version of it that a course wrote with the classes of Python's re module. They agree on most text, " +
      "and not on ² (a number for one, a letter for the other) nor on _! (one run of symbols, or underscores apart). A tokenizer needs exactly the pattern that it was trained with.",
  },
  {
    id: "marks",
    title: "Why Hindi breaks at its vowel signs",
    setup: { text: "नमस्ते दुनिया", options: { pattern: "cl100k", other: "o200k" } },
    look: "A vowel sign of Hindi is no letter to Unicode but a combining mark: \\p{M}, not \\p{L}. The words of cl100k are runs of \\p{L}, so each sign ends " +
      "one and two words become seven pre-tokens. o200k allows \\p{M} beside the letters, and there are two. No merge can mend what the pattern cut.",
  },
  {
    id: "gaps",
    title: "A pattern with gaps",
    setup: { text: "Nothing, really nothing, is lost!", options: { pattern: "\\w+" } },
    look: "This pattern matches words only. Other libraries would drop spaces and commas and not say so; here what no alternative " +
      "matches becomes a pre-token of its own, marked unmatched, and the badge still says lossless.",
  },
];

const SHADES = { contraction: 3, letters: 0, "capital letters": 0, word: 0, numbers: 2, symbols: 4, underscores: 5, "white space": 6, newlines: 7, text: 1, unmatched: 3 };
const NAMES = ["A", "B"];

const style = new CSSStyleSheet();
style.replaceSync(`
.alternatives { margin: .3rem 0; padding-left: 1.8rem; font-size: .9rem; } .alternatives li { padding: .05rem .3rem; } .alternatives li.lit { outline: 2px solid var(--focus); border-radius: 3px; } .alternatives li.unused { color: var(--soft); }
.regex { flex: 1 1 100%; width: 100%; min-width: 0; min-height: 2.2rem; padding: .35rem .5rem; field-sizing: content; overflow-wrap: anywhere; font: .88rem/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; resize: vertical; }
.chooser { margin: .5rem 0; } .chooser label { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-bottom: .3rem; }
.sides .panel h2, #trained h3 { margin-top: 0; } .alternatives code i { font-style: normal; color: var(--soft); }
.badge { display: inline-block; padding: .05rem .6rem; border: 1px solid; border-radius: 1rem; font-size: .88rem; font-weight: 600; }
.strip .chip.differs { border-bottom: 3px dashed var(--focus); padding-bottom: 0; }
`);
document.adoptedStyleSheets.push(style);

const drawn = {}; // what the last key need not change

export function render(root, ctx) {
  const { records } = ctx;
  const { sides, differences, trained } = records;
  const alone = sides.length === 1;
  const chosen = (name, label, empty) => memo(drawn, name, [label, empty, ctx.wanted[name], ctx.records.sides[name === "pattern" ? 0 : 1]?.regex], () => chooser(ctx, name, label, empty));
  const inside = differences?.stretches.map(({ chars }) => chars);
  const panels = memo(drawn, "panels", alone, () => el("div", { class: ["sides", !alone && "side-by-side"] }));
  settle(panels[0], sides.map((side, number) => memo(drawn, `side-${number}`, [side, alone, inside], () => drawSide(ctx, side, number, alone, inside))));
  settle(root,
    chosen("pattern", alone ? "Pattern" : "Pattern A", ownName(ctx)),
    chosen("other", alone ? "Compare with" : "Pattern B", "no second pattern"),
    panels,
    memo(drawn, "marks", sides.map((side) => side.pieces), () => marks(sides)),
    memo(drawn, "training", [alone, ctx.options.train, ctx.live], () => el("div", { class: "controls" }, el("label", null,
      el("input", { type: "checkbox", id: "train", checked: ctx.options.train, disabled: !ctx.live, on: { change: (event) => ctx.set({ train: event.target.checked }) } }),
      alone ? "train on this text with the pattern" : "train on this text with each pattern"))),
    trained && memo(drawn, "trained", trained, () => drawTrained(trained)),
    differences && memo(drawn, "differences", differences, () => drawDifferences(differences)));
}

const OWN = "a regex of your own";

function ownName(ctx) {
  return ctx.tokenizer.pattern ? `${ctx.tokenizer.pattern} (of the tokenizer)` : "the regex of the tokenizer";
}

/* A menu of built-in patterns, and below it the whole regex, to read and to change. */
function chooser(ctx, name, label, empty) {
  const value = ctx.wanted[name]; // an answer about what stood there before must not take back what was typed since
  const builtIn = value === "" || ctx.records.patterns.includes(value);
  const menu = el("select", { id: `${name}-menu`, disabled: !ctx.live, on: { change: () => {
    const chosen = menu.value;
    if (chosen !== "own") ctx.set({ [name]: chosen });
    else field.focus();
  } } },
  el("option", { value: "", selected: value === "" }, empty),
  ctx.records.patterns.map((one) => el("option", { value: one, selected: value === one }, one)),
  el("option", { value: "own", selected: !builtIn }, OWN));
  const side = ctx.records.sides[name === "pattern" ? 0 : 1];
  const regex = builtIn ? side?.regex ?? "" : value;
  const field = el("textarea", { id: `${name}-regex`, class: "regex", rows: 1, maxlength: 2000, spellcheck: "false", autocomplete: "off", autocapitalize: "off", dir: "ltr", placeholder: "or write a regex here", "aria-label": `${label}: regex`, readonly: !ctx.live, on: {
    input: () => ctx.set({ [name]: field.value }),
    keydown: (event) => { if (event.key === "Enter") event.preventDefault(); },
  } });
  field.value = regex;
  // Where the browser does not size the field by what is in it.
  if (!CSS.supports("field-sizing", "content")) field.rows = Math.ceil((regex.length + 1) / Math.max(30, Math.min(90, document.documentElement.clientWidth / 12)));
  return el("div", { class: "chooser" }, el("label", null, label, menu), field);
}

/* A word that is cut before a combining mark looks broken; the reason is in the pattern. */
function marks(sides) {
  const decoder = new TextDecoder();
  let found = null;
  const names = sides.filter((side) => side.pieces?.some((piece, place) => {
    const text = decoder.decode(fromHex(piece.bytes));
    const cut = place > 0 && /^\p{M}/u.test(text);
    if (cut) found ??= String.fromCodePoint(text.codePointAt(0));
    return cut;
  })).map((side) => side.name ?? OWN);
  if (names.length === 0) return null;
  return el("p", { id: "marks", class: "notice" }, el("strong", null, "Why are words cut before a sign such as "), el("bdi", { class: "mono" }, `◌${found} U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`), el("strong", null, "? "),
    "Vowel signs of Hindi, and accents that stand as characters of their own, are combining marks to Unicode: ", el("code", null, "\\p{M}"), ", not letters, ", el("code", null, "\\p{L}"), `. What ${names.join(" and ")} ${names.length > 1 ? "take" : "takes"} for a word does not include marks, so a mark ends the word. The pattern o200k allows `, el("code", null, "\\p{M}"), " beside the letters and keeps such words whole.");
}

function drawSide(ctx, side, number, alone, stretches) {
  const title = el("h2", null, alone ? "" : `${NAMES[number]}: `, side.name ?? OWN);
  if (side.error) {
    return el("section", { class: "panel", id: `side-${number}` }, title, el("p", { class: "bad", role: "alert" }, "This pattern cannot be used: ", side.error));
  }
  const used = new Map();
  for (const piece of side.pieces) used.set(piece.alternative, (used.get(piece.alternative) ?? 0) + 1);
  const list = el("ol", { class: "alternatives", "aria-label": "Alternatives, in the order in which they are tried" }, side.alternatives.map((one) =>
    el("li", { class: !used.has(one.index) && "unused", data: { alternative: one.index } }, `${one.category} `, el("code", { dir: "ltr" }, signNodes({ text: one.source })), " ", el("span", { class: "nowrap" }, used.has(one.index) ? plural(used.get(one.index), "time") : "not used"))));
  const light = (piece) => {
    for (const item of list.children) item.classList.toggle("lit", piece !== null && Number(item.dataset.alternative) === piece.alternative && piece.alternative !== null);
  };
  const inside = (piece) => stretches?.some((chars) => piece.chars[0] >= chars[0] && piece.chars[1] <= chars[1]);
  const chips = side.pieces.map((piece) => () => chip(piece, {
    shade: SHADES[piece.category] ?? 1, kind: piece.alternative === null ? "off" : "token", sub: piece.category, class: inside(piece) && "differs",
    title: piece.alternative === null ? "no alternative matches" : `alternative ${piece.alternative + 1}: ${piece.category}`,
    inspect: () => ctx.inspect(about(piece, side)),
    on: { mouseenter: () => light(piece), mouseleave: () => light(null), focus: () => light(piece), blur: () => light(null) },
  }));
  return el("section", { class: "panel", id: `side-${number}`, "aria-label": `Pre-tokens by ${side.name ?? OWN}` }, title,
    el("p", null, el("span", { class: ["badge", side.lossless ? "good" : "bad"], data: { badge: "" } }, side.lossless ? "✓ lossless" : "✗ not lossless"),
      ` ${plural(side.count, "pre-token")}${side.lossless ? "; joined, they are the text" : ""}. `,
      side.unmatched > 0 && `No alternative matches ${plural(side.unmatched, "of them", "of them")}: another library might drop them.`),
    strip(chips, { label: alone ? "Pre-tokens" : `Pre-tokens ${NAMES[number]}` }),
    side.left_out > 0 && el("p", { class: "note" }, `and ${plural(side.left_out, "more pre-token")}`),
    el("details", { open: alone }, el("summary", null, `${plural(side.alternatives.length, "alternative")}, tried in this order`), list),
    folded("as a table", () => table({ caption: "Pre-tokens", rows: side.pieces, limit: 50, sortable: false, columns: [
      { key: "bytes", title: "pre-token", format: visibleBytes }, { key: "category", title: "matched as" }, { key: "alternative", title: "alternative", number: true, format: (place) => (place === null ? "none" : count(place + 1)) },
      { key: "chars", title: "characters", format: ([start, end]) => `${start} to ${end}` }] })));
}

function about(piece, side) {
  const matched = piece.alternative === null ? "no alternative" : [`${piece.alternative + 1}, ${piece.category} `, el("code", { dir: "ltr" }, signNodes({ text: side.alternatives[piece.alternative].source }))];
  return facts([["pre-token", chip(piece, { kind: "plain" })], ["matched by", matched], ["place", `characters ${piece.chars[0]} to ${piece.chars[1]}`], ["bytes", piece.bytes.toUpperCase().replace(/../g, "$& ")]]);
}

function drawDifferences(differences) {
  if (differences.count === 0) return el("p", { id: "differences", class: "good" }, "✓ Both patterns cut this text in the same places.");
  const pieces = (side) => side.map((piece) => chip(piece, { kind: "plain" }));
  return el("section", { id: "differences" }, el("h2", null, `${plural(differences.count, "stretch", "stretches")} of the text cut differently (dashed underline)`), table({
    caption: "Where the patterns differ", rows: differences.stretches, limit: 12, sortable: false, columns: [
      { key: "chars", title: "characters", format: ([start, end]) => `${start} to ${end}` },
      { key: "a", title: "A", format: (_, row) => pieces(row.pieces[0]) }, { key: "b", title: "B", format: (_, row) => pieces(row.pieces[1]) }] }),
  differences.left_out > 0 && el("p", { class: "note" }, `and ${count(differences.left_out)} more`));
}

function drawTrained(trained) {
  const known = trained.map((one) => new Set(one.learned.map((token) => token.bytes)));
  return el("section", { id: "trained" }, el("h2", null, "What training on this text learns"),
    el("div", { class: "side-by-side" }, trained.map((one, number) => el("div", { class: "panel" },
      el("h3", null, trained.length > 1 ? `${NAMES[number]}: ` : "", one.pattern),
      facts([["merges", count(one.merges)], ["tokens", `${count(one.tokens)} for ${plural(one.characters, "character")}`], ["round trip", one.same ? "✓ exact" : "✗ differs"]]),
      strip(one.learned.map((token) => () => chip(token, { shade: 1, class: trained.length > 1 && !known[1 - number].has(token.bytes) && "differs" })), { label: "Tokens in the order in which they were learned" }),
      one.merges > one.learned.length && el("p", { class: "note" }, `and ${count(one.merges - one.learned.length)} more`)))),
    trained.length > 1 && el("p", { class: "note" }, "Dashed underline: learned with this pattern and not with the other."));
}

export default { id: "split", title: "Split", about: "Before any merge the text is cut into pre-tokens. No token reaches over a cut, so the pattern decides which tokens there can be.", options, cards, render, keeps: true };
