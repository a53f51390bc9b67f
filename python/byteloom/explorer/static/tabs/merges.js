/* Merges: every pre-token of the text, merge by merge, and the tree of each token. */

import { chip, strip } from "../lib/chips.js";
import { el, fill, folded, memo, scrollX, settle } from "../lib/dom.js";
import { count, plural, ratio, visibleBytes } from "../lib/signs.js";
import { stepper } from "../lib/stepper.js";
import { facts, table } from "../lib/table.js";

export const options = { part: -1, step: -1 };

export const cards = [
  {
    id: "words",
    title: "Common words become one token",
    setup: { text: "in the house and the loom", tokenizer: "built-in, English" },
    look: "·the and ·and end as single tokens after two or three merges: their pairs were so frequent in training that they were learned " +
      "early (low ranks). Choose each pre-token and play it.",
  },
  {
    id: "steps",
    title: "Step through the merges of a word",
    setup: { text: "the weavers", options: { part: 2, step: 0 }, tokenizer: "built-in, English" },
    look: "Slide from 0 to the end of ·weavers. Each step joins one pair, the one of lowest rank, and the row gets one symbol shorter, " +
      "until no two neighbours are a pair that was learned.",
  },
  {
    id: "order",
    title: "The order of learning decides",
    setup: { text: " whether", tokenizer: "built-in, English" },
    look: "Several pairs could be joined at the start. The one that training learned first wins, even if another would make a longer token sooner. " +
      "The other pairs wait; the table shows them with their ranks.",
  },
  {
    id: "rare",
    title: "Rare letters stay apart",
    setup: { text: "xyz", tokenizer: "built-in, English" },
    look: "No merge at all: no pair of these letters was frequent enough in training to be learned, so there is nothing to join. Three bytes, three tokens, and still nothing unknown.",
  },
  {
    id: "compression",
    title: "Some text is shorter in tokens",
    setup: { text: "the the the\nqxz qxz qxz", tokenizer: "built-in, English" },
    look: "Two lines of the same length. Each ·the is one token; each qxz stays three tokens of one byte, and its space is a fourth. What training saw often takes few tokens.",
  },
  {
    id: "spaces",
    title: "What happens to spaces",
    setup: { text: "one two  three", tokenizer: "built-in, English" },
    look: "Simple demonstrations make every space a token. With this pattern a space belongs to the word behind it (· is the space), and merges take it in. " +
      "Only the extra space of a double one stands alone.",
  },
  {
    id: "unwind",
    title: "Unwind a token",
    setup: { text: " weaver", options: { part: 1, step: 99 }, tokenizer: "built-in, English" },
    look: "Click the token at the end. Its tree shows every merge that built it, down to the bytes.",
  },
];

const SYMBOLS = 200; // drawn; of a longer pre-token the rest is counted
const TREES = 16;

const style = new CSSStyleSheet();
style.replaceSync(`
.symbols .chip { font-size: 1.1rem; } .symbols .pair { display: inline-block; padding: 1px; border: 2px solid var(--focus); border-radius: 6px; } .symbols .new { outline: 2px solid var(--accent); outline-offset: 1px; }
h2 .chip { vertical-align: baseline; }
.trees { unicode-bidi: isolate; padding: .2rem; white-space: nowrap; } .trees > * { vertical-align: top; margin-right: .8rem; }
@media (min-width: 54rem) { .trees { white-space: normal; } }
.tree { display: inline-flex; flex-direction: column; border: 1px solid var(--edge); border-radius: 4px; background: var(--panel); font: .92rem/1.4 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; text-align: center; }
.tree > .name { display: block; min-width: 0; padding: .05rem .35rem; white-space: pre; } .tree > .name small { color: var(--soft); font-size: .72rem; display: block; line-height: 1.1; } .tree > .halves { display: flex; gap: 2px; padding: 2px; border-top: 1px solid var(--line); align-items: flex-start; justify-content: center; }
.tree.leaf { border-style: dashed; } .tree:not(.leaf) > .name { background: var(--s0); }
`);
document.adoptedStyleSheets.push(style);

const drawn = {}; // what the last key need not change

export function render(root, ctx) {
  const { pieces, parts, left_out: rest } = ctx.records;
  settle(root, parts.length === 0 ? el("p", { class: "soft" }, "There is no text yet.") : [
    memo(drawn, "pieces", [pieces, parts, ctx.view, ctx.options], () => choice(ctx)),
    el("h2", null, "All tokens"), summary(ctx),
    memo(drawn, "tokens", [pieces, parts], () => tokens(ctx)),
    rest > 0 && el("p", { class: "note" }, `Drawn are the first ${plural(parts.length, "pre-token")}; the figures are of all ${count(parts.length + rest)}.`),
  ]);
}

/* The pre-tokens, and the merges of the chosen one. */
function choice(ctx) {
  const { pieces, parts } = ctx.records;
  const wanted = ctx.view.part ?? (ctx.options.part > 0 ? ctx.options.part - 1 : -1);
  let part = Number.isInteger(wanted) && wanted >= 0 && wanted < parts.length ? wanted : busiest(pieces, parts);
  const stage = el("div", { id: "piece" });
  const made = [];
  const chips = parts.map((one, place) => () => (made[place] = chip(pieces[one.piece], {
    shade: place, pressed: place === part, sub: plural(pieces[one.piece].tokens.length, "token"), title: `pre-token ${place + 1}: ${plural(pieces[one.piece].steps.length + pieces[one.piece].steps_left_out, "merge")}`,
    inspect: () => choose(place),
  })));
  function choose(place) {
    part = place;
    ctx.remember({ part, step: undefined });
    made.forEach((node, number) => node.setAttribute("aria-pressed", String(number === place)));
    ctx.inspect(null);
    fill(stage, drawPiece(ctx, pieces[parts[place].piece], undefined));
  }
  fill(stage, drawPiece(ctx, pieces[parts[part].piece], ctx.view.step ?? (ctx.options.step >= 0 ? ctx.options.step : undefined)));
  return [el("h2", null, "Choose a pre-token"), strip(chips, { label: "Pre-tokens", first: 80 }), stage];
}

/* The pre-token of the most merges among the first. */
function busiest(pieces, parts) {
  let best = 0;
  parts.slice(0, 20).forEach((part, place) => { if (pieces[part.piece].steps.length > pieces[parts[best].piece].steps.length) best = place; });
  return best;
}

function drawPiece(ctx, piece, begin) {
  const { steps } = piece;
  const states = statesOf(piece);
  const last = steps.length;
  const value = Number.isInteger(begin) ? Math.max(0, Math.min(last, begin)) : 0;
  const row = el("div", { class: "symbols", id: "symbols" });
  const told = el("div", { id: "step" });
  const say = (step) => (step === 0 ? `0 of ${last}: ${plural(states[0].length, "symbol")}` : `${step} of ${last}: ${visibleBytes(steps[step - 1].left.bytes)} + ${visibleBytes(steps[step - 1].right.bytes)}`);
  function draw(now) {
    fill(row, drawState(states[now], steps[now], steps[now - 1]));
    fill(told, describe(piece, now));
  }
  const walk = last > 0 && stepper({ label: "Merges done", count: last + 1, value, say, onStep: (step) => { draw(step); ctx.remember({ step }); } });
  draw(value);
  const finished = piece.steps_left_out === 0;
  return [
    el("h2", null, "The merges of ", chip(piece, { kind: "plain" })),
    el("p", { class: "soft" }, `Matched as ${piece.category}. `, piece.original && "Normalized before it was cut. ", piece.whole && piece.steps.length > 0 && "This whole pre-token is in the vocabulary and is taken at once; these are the merges that would build it. "),
    walk, row, told,
    !finished && el("p", { class: "note" }, `and ${plural(piece.steps_left_out, "more merge")} that are not shown`),
    el("h3", null, "How its tokens were built"),
    scrollX("Merge trees", { class: "trees", id: "trees" }, piece.tokens.slice(0, TREES).map((token) => (token.tree ? drawTree(token.tree) : chip(token, { kind: "special", sub: String(token.id) })))),
    piece.tokens.length > TREES && el("p", { class: "note" }, `and ${plural(piece.tokens.length - TREES, "more token")}`),
    folded("as a table", () => table({
      caption: "Merges in order", rows: steps.map((step, number) => ({ ...step, number: number + 1 })), limit: 50, sortable: false, columns: [
        { key: "number", title: "step", number: true }, { key: "pair", title: "pair", format: (_, step) => `${visibleBytes(step.left.bytes)} + ${visibleBytes(step.right.bytes)}` },
        { key: "result", title: "becomes", format: (result) => `${visibleBytes(result.bytes)}, id ${result.id}` }, { key: "rank", title: "rank", number: true },
        { key: "losers", title: "had to wait (rank)", format: (losers, step) => losers.map((loser) => `${visibleBytes(loser.left.bytes)} + ${visibleBytes(loser.right.bytes)} (${loser.rank})`).join(", ") + (step.losers_left_out > 0 ? `, ${step.losers_left_out} more` : "") },
      ],
    })),
  ];
}

/* The symbols before the first merge and after each. */
function statesOf(piece) {
  let state = piece.symbols.map(({ id, bytes }) => ({ id, bytes }));
  const states = [state];
  for (const { at, result } of piece.steps) {
    state = [...state.slice(0, at), result, ...state.slice(at + 2)];
    states.push(state);
  }
  return states;
}

function drawState(state, next, before) {
  const made = state.slice(0, SYMBOLS).map((symbol, place) => chip(symbol, { shade: place, sub: String(symbol.id), title: `id ${symbol.id}`, class: before && place === before.at && "new" }));
  if (next && next.at + 1 < made.length) {
    const pair = el("span", { class: "pair", title: "joined next" }, made[next.at], made[next.at + 1]);
    made.splice(next.at, 2, pair);
  }
  return el("div", { class: "strip", role: "group", "aria-label": "Symbols" }, made, state.length > SYMBOLS && el("span", { class: "rest" }, `and ${plural(state.length - SYMBOLS, "more symbol")}`));
}

function describe(piece, now) {
  const next = piece.steps[now];
  if (!next) {
    const why = piece.symbols.length === 0 ? "It is matched as it is written, and never merged." : piece.symbols.length === 1 ? "A single symbol: nothing to merge." : piece.steps.length === 0
      ? "No two neighbours are a pair that was learned, so nothing is merged." : piece.steps_left_out > 0 ? "The merges that are shown end here." : "No two neighbours are a pair that was learned: done.";
    return el("p", { id: "why" }, why, ` ${plural(piece.tokens.length, "token")}: `, piece.tokens.slice(0, TREES).map((token) => [chip(token, { kind: "plain" }), ` ${token.id} `]));
  }
  const pair = (one) => [chip(one.left, { kind: "plain" }), " + ", chip(one.right, { kind: "plain" })];
  const rows = [{ pair: pair(next), rank: next.rank, what: ["✓ joined next: ", chip(next.result, { kind: "plain" }), ` id ${next.result.id}`], _class: "on" },
    ...next.losers.map((loser) => ({ pair: pair(loser), rank: loser.rank, what: "has to wait" }))];
  const number = 1 + next.losers.length + next.losers_left_out;
  return [
    el("p", { id: "why" }, number === 1 ? `One pair of neighbours is a merge that training learned, with rank ${count(next.rank)}.` : `${count(number)} pairs of neighbours are merges that training learned. A rank is a place in the order of learning: the lowest, ${count(next.rank)}, goes first.`),
    table({ caption: "Pairs that could be joined", rows, sortable: false, columns: [{ key: "pair", title: "pair" }, { key: "rank", title: "rank", number: true }, { key: "what", title: "" }] }),
    next.losers_left_out > 0 && el("p", { class: "note" }, `and ${plural(next.losers_left_out, "more pair")} of higher rank`),
  ];
}

function drawTree(node) {
  const leaf = !node.left;
  return el("div", { class: ["tree", leaf && "leaf"] },
    el("bdi", { class: "name", title: `id ${node.id}` }, visibleBytes(node.bytes), el("small", null, node.rank === null ? node.id : `rank ${node.rank}`)),
    leaf ? node.cut && el("div", { class: "halves" }, "…") : el("div", { class: "halves" }, drawTree(node.left), drawTree(node.right)));
}

/* The tree in words, for the panel of details: a list within a list. */
function unwound(node) {
  const words = `${visibleBytes(node.bytes)} id ${node.id}${node.rank === null ? "" : `, merge ${count(node.rank)}`}`;
  return el("li", null, el("bdi", null, words), node.cut && " …", node.left && el("ul", null, unwound(node.left), unwound(node.right)));
}

function tokens(ctx) {
  const { records } = ctx;
  const all = records.parts.flatMap((part) => records.pieces[part.piece].tokens);
  const chips = all.map((token, place) => () => chip(token, {
    shade: place, kind: token.kind === "added" ? "special" : "token", sub: String(token.id), title: `id ${token.id}: unwind`,
    inspect: () => ctx.inspect(el("div", null, facts([["token", chip(token, { kind: "plain" })], ["id", count(token.id)], ["bytes", token.bytes.toUpperCase().replace(/../g, "$& ")]]), token.tree ? el("ul", { id: "unwound" }, unwound(token.tree)) : el("p", null, "It is taken as a whole; no merges build it."))),
  }));
  return strip(chips, { label: "Tokens of the text", more: "tokens", first: 60 });
}

function summary({ records }) {
  return el("p", { class: "soft" }, `${plural(records.bytes, "byte")} became ${plural(records.tokens, "token")}`, records.tokens > 0 && `: ${ratio(records.bytes / records.tokens)} bytes a token`, ". Choose one to unwind it: its tree shows every merge that built it.");
}

export default { id: "merges", title: "Merges", about: "Inside each pre-token, the pair that training learned first is joined first, until no learned pair is left. These are the real merges of the chosen tokenizer.", options, cards, render, keeps: true };
