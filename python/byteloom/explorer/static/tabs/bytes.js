/* Bytes: what a reader sees, code points, bytes, and the letters that GPT-2 writes bytes with. */

import { chip, signNodes, strip } from "../lib/chips.js";
import { el, fill, folded, memo, settle } from "../lib/dom.js";
import { count, fromHex, plural, visible } from "../lib/signs.js";
import { facts, table } from "../lib/table.js";

export const options = { base: "hex", cut: -1 };

export const cards = [
  {
    id: "emoji",
    title: "One rocket, four bytes",
    setup: { text: "🚀" },
    look: "One character on the screen, one code point, four bytes: F0 9F 9A 80. The first says that three more follow. " +
      "All four are in the vocabulary, so unknown bytes is 0, and decoding gives the rocket back.",
  },
  {
    id: "accents",
    title: "An accent costs a byte",
    setup: { text: "e é" },
    look: "e is one byte, é two: C3 A9. The letters of plain English take one byte each; every other letter takes two or more.",
  },
  {
    id: "scripts",
    title: "Scripts it never saw",
    setup: { text: "你好 مرحبا", tokenizer: "built-in, English" },
    look: "Three bytes for each Chinese character, two for each Arabic letter. This tokenizer was trained on English only, and unknown bytes " +
      "is still 0: all 256 bytes are in its vocabulary, so there is a token for every part of any text.",
  },
  {
    id: "spaces",
    title: "Tabs and newlines are bytes too",
    setup: { text: "if x:\n\treturn x", options: { base: "dec" } },
    look: "The newline is one byte, 10, and the tab one byte, 9. The indentation of a program is text like any other.",
  },
  {
    id: "cut",
    title: "Cut a character in two",
    setup: { text: "café ☕ to go", options: { cut: 8 } },
    look: "The cut is inside ☕, behind two of its three bytes. Decoding what is left puts one replacement mark where the character " +
      "broke and does not fail. A streaming decoder shows only \"café \" and holds the two bytes back until the third comes.",
  },
  {
    id: "family",
    title: "One picture, many characters",
    setup: { text: "👩‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 e\u0301" },
    look: "What looks like one sign is several code points: people held together by joiners (U+200D), a flag made of two letters, an e " +
      "with a mark of its own. Tokens know nothing of that; they are made of the bytes.",
  },
];

const BASES = { hex: "hex", dec: "decimal", bits: "bits" };
const SHOWN_BEFORE = 40; // characters before the cut that are shown

const style = new CSSStyleSheet();
style.replaceSync(`
.signs { margin: .6rem 0 0; line-height: 1.5; }
.sign { display: inline-block; vertical-align: top; max-width: 100%; margin: 0 .4rem .5rem 0; border: 1px solid var(--edge); border-radius: 8px; background: var(--panel); text-align: center; }
.sign > .face { display: block; font-size: 1.35rem; line-height: 1.4; padding: .1rem .5rem; border-bottom: 1px solid var(--line); } .sign > .face i, .sign > .face b { font-style: normal; font-weight: 400; color: var(--soft); font-size: .75em; }
.sign .point { display: inline-block; vertical-align: top; padding: .25rem .3rem; } .point + .point { border-left: 1px dashed var(--edge); }
.point .chip { font-size: .8rem; margin: 0 0 .15rem; }
.cells { white-space: nowrap; } .cell-of { display: inline-block; vertical-align: top; margin: 0 1px; width: 1.75rem; } .signs.dec .cell-of { width: 2.2rem; } .signs.bits .cell-of { width: 4.7rem; }
.byte { display: inline-block; min-width: 1.75rem; font: .88rem/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; border: 1px solid var(--edge); border-radius: 3px; white-space: nowrap; text-align: center; } .cell-of .byte { display: block; min-width: 0; }
.byte.lead { border-width: 2px 1px 1px 4px; background: var(--s0); } .byte.cont { border-style: dashed; background: var(--s2); } .byte u { text-decoration-thickness: 2px; font-weight: 700; } .byte.after { opacity: .5; text-decoration: line-through; }
.cell-of .letter { display: block; font-size: .85rem; line-height: 1.3; color: var(--soft); }
.cell-of.after { opacity: .35; } .cell-of.after .byte { text-decoration: line-through; } .cell-of.first-after { box-shadow: -3px 0 0 var(--focus); }
#cut-result .facts { grid-template-columns: 1fr; }
.counter { font-size: 1.05rem; } .counter strong { font-size: 1.3rem; }
`);
document.adoptedStyleSheets.push(style);

const drawn = {}; // what the last key need not change

export function render(root, ctx) {
  const { records, view } = ctx;
  const { characters, counts } = records;
  settle(root,
    memo(drawn, "counter", [records.unknown, counts, characters], () => el("p", { class: "counter" }, "Unknown bytes: ", el("strong", { id: "unknown" }, count(records.unknown)), ` of ${count(counts.bytes)}. `,
      el("span", { class: "soft" }, records.unknown > 0
        ? "This tokenizer is made of characters and has no token for some of these."
        : `${plural(counts.characters, "code point")}, ${count(counts.wide)} of them made of two or more bytes${records.left_out > 0 ? "" : boxes(characters)}.`))),
    memo(drawn, "cells", [characters, ctx.options, view], () => cells(ctx)),
    memo(drawn, "tokens", records.tokens, () => tokens(ctx)),
    records.left_out > 0 && el("p", { class: "note" }, `Drawn are the first ${count(characters.length)} characters; the figures are of all ${count(counts.characters)}.`),
    memo(drawn, "twin", characters, () => twin(characters)));
}

/* The characters, how their bytes are written, and the cut. */
function cells(ctx) {
  const { records, view } = ctx;
  const { characters } = records;
  let base = Object.hasOwn(BASES, view.base) ? view.base : ctx.options.base;
  const size = characters.reduce((sum, char) => sum + char.bytes.length / 2, 0);
  const wanted = view.cut ?? ctx.options.cut;
  let cut = Number.isInteger(wanted) && wanted >= 0 ? Math.min(wanted, size) : size;

  const stage = el("div", { id: "signs" });
  const told = el("div", { id: "cut-result" });
  const slider = el("input", { type: "range", id: "cut", min: 0, max: size, step: 1, value: cut, "aria-label": "Cut after byte", on: { input: () => { cut = Number(slider.value); ctx.remember({ cut }); mark(); } } });
  const number = el("span", { id: "cut-at" });
  const bases = Object.entries(BASES).map(([id, name]) => el("button", { type: "button", id: `base-${id}`, "aria-pressed": String(base === id), on: { click: () => choose(id) } }, name));

  function choose(id) {
    base = id;
    ctx.remember({ base });
    for (const button of bases) button.setAttribute("aria-pressed", String(button.id === `base-${id}`));
    draw();
  }
  function place(cell) {
    const at = Number(cell.dataset.at);
    cell.classList.toggle("after", at >= cut);
    cell.classList.toggle("first-after", at === cut);
  }
  function draw() {
    fill(stage, signs(ctx, base, place));
    tell();
  }
  function mark() {
    stage.querySelectorAll(".cell-of").forEach(place);
    tell();
  }
  function tell() {
    slider.setAttribute("aria-valuetext", `${plural(cut, "byte")} of ${count(size)}`);
    number.textContent = count(cut);
    fill(told, cutResult(records, cut, size));
  }
  draw();
  return [
    el("div", { class: "controls", role: "group", "aria-label": "How bytes are written" }, el("span", null, "Write bytes in"), bases),
    key(), stage,
    size > 0 && [el("h2", null, "Cut here"), el("div", { class: "controls" }, el("label", { for: "cut" }, el("span", null, "Cut after byte ", number)), slider), told],
  ];
}

function tokens(ctx) {
  return [
    el("h2", null, "The tokens over these bytes"),
    el("p", { class: "soft" }, "Each box is one token with its id below. The colours only tell neighbours apart."),
    strip(ctx.records.tokens.map((token, place) => () => chip(token, { shade: place, sub: String(token.id), inspect: () => ctx.inspect(el("div", null, facts([["token id", count(token.id)], ["bytes", hex(token.bytes)], ["place", `bytes ${token.span[0]} to ${token.span[1]}`]]))) })), { label: "Tokens", more: "tokens", first: 60 }),
  ];
}

function key() {
  const cell = (kind, text) => el("span", { class: ["byte", kind] }, text);
  return [
    el("p", { class: "soft" }, "Each box is one byte. Its fill and its edge say which part of a character it is; below it stands the letter that GPT-2's files write for it."),
    el("ul", { class: "legend", "aria-label": "What the boxes mean" },
      el("li", null, cell(null, "41"), " no fill: a character of one byte"),
      el("li", null, cell("lead", "E2"), " blue, thick edge: lead byte, the first of several; it says how many follow"),
      el("li", null, cell("cont", "98"), " yellow, dashed: continuation byte, one of those that follow"),
      el("li", null, cell("after", "98"), " pale, struck out: behind the cut")),
  ];
}

const hex = (bytes) => bytes.toUpperCase().replace(/../g, "$& ").trim();

/* Bits that say how a byte belongs to its character are underlined. */
function written(byte, base) {
  if (base === "hex") return byte.toString(16).toUpperCase().padStart(2, "0");
  if (base === "dec") return String(byte);
  const bits = byte.toString(2).padStart(8, "0");
  const prefix = byte < 0x80 ? 1 : byte < 0xc0 ? 2 : byte < 0xe0 ? 3 : byte < 0xf0 ? 4 : 5;
  return [el("u", null, bits.slice(0, prefix)), bits.slice(prefix)];
}

const role = (byte) => (byte < 0x80 ? null : byte < 0xc0 ? "cont" : "lead");

/* How many boxes are drawn; unknown to a browser that cannot tell what belongs together. */
function boxes(characters) {
  if (characters.length === 0 || typeof Intl.Segmenter !== "function") return "";
  return `, in ${plural(graphemes(characters).length, "box", "boxes")} of what a reader sees as one character`;
}

/* What a reader takes for one character: several code points that belong together. */
function graphemes(characters) {
  const text = characters.map((char) => char.char).join("");
  if (typeof Intl.Segmenter !== "function") return characters.map((char) => [char]);
  let place = 0;
  return Array.from(new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text), ({ segment }) => {
    const length = Array.from(segment).length;
    place += length;
    return characters.slice(place - length, place);
  });
}

function signs(ctx, base, mark) {
  let at = 0;
  const blocks = graphemes(ctx.records.characters).map((points) => {
    const start = at;
    for (const char of points) at += char.bytes.length / 2;
    return () => sign(ctx, points, start, base, mark);
  });
  if (blocks.length === 0) return el("p", { class: "soft" }, "There is no text yet.");
  return strip(blocks, { label: "Characters, code points and bytes", class: `signs ${base}`, first: 40 });
}

function sign(ctx, points, start, base, mark) {
  let at = start;
  return el("div", { class: "sign", role: "group", "aria-label": points.map((char) => char.name).join(", ") },
    el("bdi", { class: "face" }, signNodes({ text: points.map((char) => char.char).join("") })),
    points.map((char) => {
      const bytes = Array.from(fromHex(char.bytes));
      const first = at;
      at += bytes.length;
      return el("div", { class: "point" },
        chip({ text: char.code }, { kind: "plain", title: char.name, inspect: () => ctx.inspect(about(char, bytes, first)) }),
        el("div", { class: "cells" }, bytes.map((byte, place) => {
          const cell = el("div", { class: "cell-of", data: { at: first + place } },
            el("span", { class: ["byte", role(byte)] }, written(byte, base)), el("bdi", { class: "letter" }, char.letters[place]));
          mark(cell);
          return cell;
        })));
    }));
}

function about(char, bytes, start) {
  return facts([
    ["character", signNodes({ text: char.char })], ["code point", `${char.code} ${char.name}`],
    ["bytes", `${hex(char.bytes)} (decimal ${bytes.join(" ")})`], ["place", `bytes ${start} to ${start + bytes.length}`],
    ["GPT-2 letters", char.letters.join("")],
  ]);
}

/* The characters before the cut, and what the broken one becomes. */
function cutResult({ characters }, cut, size) {
  let at = 0;
  const before = [];
  let broken = null;
  for (const char of characters) {
    const length = char.bytes.length / 2;
    if (at + length > cut) {
      if (cut > at) broken = { char, kept: cut - at, ...char.cuts[cut - at - 1] };
      break;
    }
    before.push(char.char);
    at += length;
  }
  const text = (before.length > SHOWN_BEFORE ? "…" : "") + before.slice(-SHOWN_BEFORE).join("");
  const shown = (words) => el("bdi", { class: "mono" }, visible(words) || "nothing");
  const where = cut === size && !broken ? "Nothing is cut off. Move the slider to cut." : broken
    ? `The cut is inside ${broken.char.code} ${broken.char.name}: ${broken.kept} of its ${plural(broken.char.bytes.length / 2, "byte")} ${broken.kept === 1 ? "is" : "are"} left.`
    : "The cut is between two characters: nothing is broken.";
  return [
    el("p", { id: "cut-where", role: "status" }, where),
    facts([
      ["decoded", shown(text + (broken?.decoded ?? ""))],
      ["as a stream", [shown(text + (broken?.streamed ?? "")), broken ? `, and ${plural(broken.held, "byte")} held back: ${hex(broken.char.bytes.slice(0, 2 * broken.kept))}` : ", nothing held back"]],
      broken && ["if no more comes", [shown(broken.flushed), " stands for the bytes that were held back"]],
    ]),
    broken && el("p", { class: "note" }, "⟨U+FFFD⟩ is the replacement mark, which stands for bytes that are no character. It is put there when text is shown; the bytes and ids are not changed."),
  ];
}

function twin(characters) {
  return folded("as a table", () => table({
    caption: "Characters and their bytes", rows: characters, limit: 50, sortable: false,
    columns: [
      { key: "char", title: "character", format: visible }, { key: "code", title: "code point" }, { key: "name", title: "name" },
      { key: "bytes", title: "hex", format: hex }, { key: "dec", title: "decimal", format: (_, row) => Array.from(fromHex(row.bytes)).join(" ") },
      { key: "letters", title: "GPT-2 letters", format: (letters) => letters.join("") },
    ],
  }));
}

export default { id: "bytes", title: "Bytes", about: "What you see, the code points behind it, the bytes of UTF-8, and the letters that GPT\u20112 writes bytes with.", options, cards, render, keeps: true };
