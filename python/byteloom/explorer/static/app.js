/* The shell: what all tabs share. A tab draws records; the shell asks for them, and keeps text, tokenizer and address.
 *
 * A tab is static/tabs/<id>.js with
 *
 *   export const options = { name: default, … };      sent with each question; plain literals
 *   export const cards = [{ id, title, setup: { text?, options?, tokenizer? }, look }, …];      plain literals
 *   export function render(root, ctx) { … }           draws into the empty root; called for each new answer
 *   export const text = "…";                          only where the tab has a text of its own
 *   export default { id, title, about, options, cards, render, text?, label?, reads?, tokenizer?, keeps? };
 *     text, label:   the text that the tab begins with, and what its box is called
 *     reads:         "nothing" where the tab reads no text at all
 *     tokenizer:     false where the tab does not use the tokenizer of the menu
 *     keeps:         the root is left as the tab drew it last
 *
 * What a tab does not read is not shown: tabs that encode a text share one box, and the figures of that text stand above
 * them; a tab with a text of its own has the box to itself and no figures; a tab that reads no text has neither.
 *
 * `options`, `cards` and `text` are literals (double-quoted strings, numbers, true, false, null, lists, objects; long strings
 * may be joined with +), because page.py reads them to save the answers of every card in one file.
 *
 * ctx: text, options (of the question that was answered), wanted (the options by now, of a newer question if there is one:
 *   what controls show), records, strip (figures of the text), tokenizers, tokenizer (summaries; `index` is the place), patterns, limits,
 *   live (false on a saved page: nothing new can be asked),
 *   set(options)        change options and ask again      setText(text)     setTokenizer(index)
 *   view, remember(v)   what only the picture needs, such as the step of a slider: in the address, but nothing is asked
 *   inspect(node)       show a node in the panel of details
 *   say(words)          tell a screen reader
 *
 * Controls in `root` need an `id`: the shell gives the focus and the selection back after it drew again.
 */

import { cards } from "./lib/cards.js";
import { el, fill } from "./lib/dom.js";
import { EXAMPLES } from "./lib/examples.js";
import { count, ratio } from "./lib/signs.js";
import { connect } from "./lib/source.js";
import * as address from "./lib/state.js";
import { themeButton } from "./lib/theme.js";

// A question is asked with every key: while one is on its way the source keeps the newest of those that follow.
const LONG_PAUSE = 150; // milliseconds without a key before a question about a text above the limit of details
const WRITE_PAUSE = 150; // before the address is written: browsers refuse to do it for every key

async function loadTab(id) {
  const bundled = globalThis.byteloomModules?.[`tabs/${id}.js`];
  return (bundled ?? (await import(`./tabs/${id}.js`))).default;
}

const SHARED = "shared"; // whose text: of all tabs that have none of their own

const copy = (value) => JSON.parse(JSON.stringify(value));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const editable = (node) => node?.matches?.("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

class Shell {
  constructor(source, tabs) {
    this.source = source;
    this.session = source.session;
    this.tabs = tabs;
    this.options = Object.fromEntries(tabs.map((tab) => [tab.id, copy(tab.options)]));
    this.view = Object.fromEntries(tabs.map((tab) => [tab.id, {}]));
    this.card = {};
    this.before = {}; // the text and the tokenizer that a card replaced, by whose text it is
    this.tokenizer = 0;
    this.tab = tabs[0];
    this.texts = { [SHARED]: this.session.text };
    for (const tab of tabs) if (tab.text !== undefined) this.texts[tab.id] = tab.text;
    this.turn = 0; // of the newest question,
    this.first = 0; // of the oldest whose answer is still wanted,
    this.shown = 0; // of the one whose answer is drawn
    this.drawn = null; // the tab that the stage shows
    this.build();
    this.readAddress();
    this.listen();
    this.showAll();
    this.ask();
  }

  // The text of the tab: its own, or the one that the others share.

  get owner() {
    return this.tab.text === undefined ? SHARED : this.tab.id;
  }

  get text() {
    return this.texts[this.owner];
  }

  set text(text) {
    this.texts[this.owner] = text;
  }

  get textAtStart() {
    return this.tab.text ?? this.session.text;
  }

  /* Whether the newest question is answered and drawn, and the address is written. Tests wait for this. */
  get settled() {
    return this.shown === this.turn && !this.timer && !this.writing;
  }

  // The page.

  build() {
    const { session } = this;
    const heading = el("h1", null, "byteloom ", el("span", null, "explorer"));
    this.menu = el("select", { id: "tokenizer", on: { change: () => this.setTokenizer(this.menu.selectedIndex) } },
      session.tokenizers.map((named) => el("option", null, `${named.name} (${count(named.vocab_size)})`)));
    this.share = el("button", { type: "button", id: "share", on: { click: () => this.copyLink() } }, "⧉ copy link");
    const help = el("button", { type: "button", id: "keys", on: { click: () => this.keys.showModal() } }, "? keys");
    this.keys = keysDialog();
    this.nav = el("div", { role: "tablist", "aria-label": "Views", id: "tabs" }, this.tabs.map((tab) =>
      el("button", { type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": "stage", data: { tab: tab.id }, on: { click: () => this.setTab(tab.id) } }, tab.title)));
    this.area = el("textarea", { id: "text", rows: 4, spellcheck: "false", autocomplete: "off", autocapitalize: "off", dir: "auto", "aria-label": "Text", readonly: !this.source.live });
    this.examples = el("select", { id: "examples", "aria-label": "Examples", on: { change: () => this.chooseExample() } },
      el("option", { value: "" }, "examples …"), EXAMPLES.map((example) => el("option", null, example.title)));
    this.note = el("p", { class: "note", id: "note", hidden: true });
    this.label = el("label", { for: "text" });
    this.borrow = el("button", { type: "button", class: "link", id: "borrow", on: { click: () => this.exchange() } });
    this.whose = el("p", { class: "note", id: "whose" }, "Only this tab reads this text. ", this.borrow);
    this.cards = el("section", { id: "cards", "aria-label": "Try this" });
    this.figures = el("dl", { id: "strip", "aria-label": "Figures of the text" });
    this.about = el("p", { class: "about" });
    const signs = el("p", { class: "note signs-key" }, "In the boxes: · a space, ↵ a new line, → a tab, ⟨E2 98⟩ bytes that are only a part of a character.");
    this.alert = el("div", { id: "alert", role: "alert" });
    this.root = el("div", { id: "picture" });
    this.details = el("aside", { id: "inspector", "aria-label": "Details", "aria-live": "polite" });
    this.status = el("p", { class: "unseen", role: "status" });
    this.choose = el("label", { class: "choose" }, "Tokenizer ", this.menu);
    this.box = el("div", { id: "box" }, el("div", { class: "row" }, this.label, this.source.live && this.examples), this.area, this.whose);
    const stage = el("main", { id: "stage", role: "tabpanel", tabindex: "-1" }, this.about, signs, this.alert, this.root, this.details);
    this.stage = stage;
    fill(document.getElementById("app"),
      el("header", null, heading, this.choose, el("div", { class: "tools" }, this.source.live && this.share, help, themeButton())),
      this.nav,
      el("div", { class: "columns" },
        el("section", { id: "input", "aria-label": "Input" }, this.box, this.note, this.cards),
        el("div", { id: "right" }, this.figures, stage)),
      this.status, this.keys);
    if (!this.source.live) {
      this.menu.disabled = true;
      this.note.hidden = false;
      fill(this.note, "A saved page: it shows this text and the examples below. To try your own, run ", el("code", null, "byteloom explore"), ".");
    }
  }

  listen() {
    this.area.addEventListener("input", () => this.setText(this.area.value, { typed: true }));
    this.area.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    this.area.addEventListener("drop", (event) => this.drop(event));
    this.nav.addEventListener("keydown", (event) => this.moveTab(event));
    this.root.addEventListener("compositionstart", () => { this.composing = true; });
    this.root.addEventListener("compositionend", () => { this.composing = false; this.draw(this.late); });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("popstate", () => { this.readAddress(); this.showAll(); this.ask(); });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.keys.open || editable(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      const area = this.box.hidden ? this.root.querySelector("textarea") : this.area;
      area?.focus();
      area?.select();
    } else if (event.key === "?") {
      this.keys.showModal();
    } else {
      const node = this.root.querySelector("[data-stepper]");
      const button = event.target.closest?.("button, a, summary, [role=tab], [role=slider]");
      const ours = !event.target.matches?.("input[type=range]") || event.target.closest("[data-stepper]");
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!node || !ours) return;
      if (event.key === " " && !button && !event.target.matches("input")) {
        event.preventDefault();
        node.stepper.toggle();
      } else if (event.key === " " && event.target.matches("[data-stepper] input")) {
        event.preventDefault();
        node.stepper.toggle();
      } else if (step && !event.target.closest?.("[role=tablist], [role=slider], .strip, input")) {
        event.preventDefault();
        node.stepper.step(step);
      }
    }
  }

  // State.

  readAddress() {
    const wanted = address.read();
    const tab = this.tabs.find((one) => one.id === wanted.tab);
    if (!tab) return;
    this.tab = tab;
    if (this.source.live) {
      const stored = (text, long, owner) => text ?? (long ? address.keptText(owner) : null) ?? this.texts[owner];
      this.text = stored(wanted.text, wanted.long, this.owner);
      if (this.owner !== SHARED) this.texts[SHARED] = stored(wanted.shared, wanted.sharedLong, SHARED);
      const place = Number(wanted.tokenizer ?? 0);
      if (Number.isInteger(place) && place >= 0 && place < this.session.tokenizers.length) this.tokenizer = place;
    } else {
      this.text = this.textAtStart;
      this.tokenizer = 0;
    }
    const known = Object.entries(wanted.options).filter(([name]) => Object.hasOwn(tab.options, name));
    this.options[tab.id] = { ...copy(tab.options), ...Object.fromEntries(known) };
    this.view[tab.id] = wanted.view;
    const card = tab.cards.find((one) => one.id === wanted.card);
    this.card[tab.id] = card?.id ?? null;
    if (card && !this.source.live) this.apply(card);
  }

  writeAddress(push = false) {
    const { id } = this.tab;
    const options = Object.fromEntries(Object.entries(this.options[id]).filter(([name, value]) => !same(value, this.tab.options[name])));
    const shared = this.owner === SHARED || this.texts[SHARED] === this.session.text ? null : this.texts[SHARED];
    clearTimeout(this.writing);
    this.writing = null;
    address.write({ tab: id, text: this.text, shared, tokenizer: this.tokenizer, options, view: this.view[id], card: this.card[id] }, { push });
    for (const [owner, text] of Object.entries(this.texts)) address.keepText(text, owner);
  }

  writeSoon() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), WRITE_PAUSE);
  }

  setTab(id) {
    const tab = this.tabs.find((one) => one.id === id);
    if (!tab || tab === this.tab) return;
    if (this.writing) this.writeAddress();
    this.tab = tab;
    if (!this.source.live) this.reset(tab);
    this.showAll();
    this.writeAddress(true);
    this.ask();
  }

  /* A saved page knows each tab as it begins, and its cards. */
  reset(tab) {
    this.options[tab.id] = copy(tab.options);
    this.card[tab.id] = null;
    this.text = this.textAtStart;
    this.tokenizer = 0;
  }

  /* A tab with a text of its own can take the one of the other tabs, and give it back. */
  exchange() {
    const text = this.text === this.texts[SHARED] ? this.textAtStart : this.texts[SHARED];
    if (!this.source.live) this.reset(this.tab);
    this.card[this.tab.id] = null;
    this.text = text;
    this.showAll();
    this.writeAddress();
    this.ask();
  }

  setText(text, { typed = false } = {}) {
    this.text = text;
    if (!typed) this.area.value = text;
    this.showBorrow();
    this.later(text.length > this.session.limits.detail_characters ? LONG_PAUSE : 0);
  }

  setTokenizer(index) {
    this.tokenizer = index;
    this.menu.selectedIndex = index;
    this.later(0);
  }

  setOptions(options) {
    Object.assign(this.options[this.tab.id], options);
    this.later(0);
  }

  chooseExample() {
    const example = EXAMPLES[this.examples.selectedIndex - 1];
    this.examples.selectedIndex = 0;
    if (example) this.setText(example.text);
  }

  chooseCard(card) {
    const { id } = this.tab;
    if (this.card[id] === card.id) {
      this.reset(this.tab);
      if (this.source.live && this.before[this.owner]) ({ text: this.text, tokenizer: this.tokenizer } = this.before[this.owner]);
      delete this.before[this.owner];
    } else {
      this.before[this.owner] ??= { text: this.text, tokenizer: this.tokenizer };
      this.apply(card);
    }
    this.view[id] = {};
    this.showAll();
    this.cards.querySelector(`[data-card="${CSS.escape(card.id)}"] button`)?.focus();
    this.cards.querySelector(".chosen")?.scrollIntoView({ block: "nearest" }); // its words too
    this.writeAddress();
    this.ask();
  }

  apply(card) {
    const { id } = this.tab;
    const { text, options, tokenizer } = card.setup;
    this.card[id] = card.id;
    this.options[id] = { ...copy(this.tab.options), ...copy(options ?? {}) };
    if (text !== undefined) this.text = text;
    else if (!this.source.live) this.text = this.textAtStart;
    const place = typeof tokenizer === "number" ? tokenizer : this.session.tokenizers.findIndex((named) => named.name === tokenizer);
    if (tokenizer !== undefined && place >= 0) this.tokenizer = place;
    else if (!this.source.live) this.tokenizer = 0;
  }

  // Questions and answers.

  /* What changes little by little: an older answer is worth drawing until the newer one is there. */
  later(pause) {
    clearTimeout(this.timer);
    this.timer = null;
    this.writeSoon();
    if (pause > 0) this.timer = setTimeout(() => this.ask({ follows: true }), pause);
    else this.ask({ follows: true });
  }

  async ask({ follows = false } = {}) {
    clearTimeout(this.timer);
    this.timer = null;
    const turn = ++this.turn;
    if (!follows) this.first = turn;
    const busy = setTimeout(() => this.stage.setAttribute("aria-busy", "true"), 200);
    const question = { tab: this.tab.id, text: this.text, tokenizer: this.tokenizer, options: copy(this.options[this.tab.id]) };
    const answer = await this.source.ask(question);
    clearTimeout(busy);
    if (answer === null || turn < this.first || turn < this.shown) return;
    // Drawn anew, a field that is being typed in would fall back to what was asked.
    if (turn < this.turn && !this.tab.keeps && this.root.contains(document.activeElement)) return;
    this.stage.removeAttribute("aria-busy");
    this.answered = { tab: this.tab, question, answer };
    if (this.composing && this.root.contains(document.activeElement)) this.late = this.answered;
    else this.draw(this.answered);
    this.shown = turn;
  }

  draw(what) {
    this.late = null;
    if (!what || what.tab !== this.tab) return;
    const { tab, question, answer } = what;
    if (answer.error) {
      this.showError(answer.error);
      return;
    }
    fill(this.alert);
    this.showFigures(answer.strip);
    const place = keepPlace(this.root);
    this.inspect(null);
    this.root.classList.remove("stale");
    // A tab that keeps its controls finds them where it left them: a slider that is being dragged goes on.
    if (!tab.keeps || this.drawn !== tab) this.root.replaceChildren();
    this.drawn = tab;
    try {
      tab.render(this.root, this.context(question, answer));
    } catch (error) {
      console.error(error);
      this.showError({ kind: "Drawing", message: `This view could not be drawn: ${error.message}` });
    }
    place();
  }

  context(question, answer) {
    const { session, tab } = this;
    const tokenizers = session.tokenizers.map((named, index) => ({ ...named, index }));
    return {
      text: question.text,
      options: question.options,
      wanted: this.options[tab.id],
      records: answer.records,
      strip: answer.strip,
      view: this.view[tab.id],
      tokenizers,
      tokenizer: tokenizers[question.tokenizer],
      patterns: session.patterns,
      limits: session.limits,
      live: this.source.live,
      set: (options) => this.setOptions(options),
      setText: (text) => this.setText(text),
      setTokenizer: (index) => this.setTokenizer(index),
      remember: (view) => {
        Object.assign(this.view[tab.id], view);
        this.writeSoon();
      },
      inspect: (node) => this.inspect(node),
      say: (words) => this.say(words),
    };
  }

  // What is shown.

  showAll() {
    const { tab } = this;
    for (const button of this.nav.children) {
      const on = button.dataset.tab === tab.id;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      if (on) button.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    }
    this.stage.setAttribute("aria-labelledby", `tab-${tab.id}`);
    document.title = `${tab.title} – byteloom explorer`;
    this.about.textContent = tab.about;
    this.choose.hidden = tab.tokenizer === false;
    this.box.hidden = tab.reads === "nothing";
    this.figures.hidden = this.box.hidden || tab.text !== undefined;
    this.label.textContent = tab.label ?? "Text";
    this.area.rows = tab.text === undefined ? 4 : 7;
    this.showBorrow();
    if (this.area.value !== this.text) this.area.value = this.text;
    this.menu.selectedIndex = this.tokenizer;
    if (this.drawn !== tab) {
      this.root.replaceChildren();
      fill(this.alert);
      this.drawn = null;
      this.inspect(null);
    }
    const list = cards(tab.cards, { current: this.card[tab.id], onChoose: (card) => this.chooseCard(card) });
    // On a phone the picture comes first; there the cards open when they are asked for.
    const open = this.card[tab.id] || this.cards.querySelector("details")?.open || matchMedia("(min-width: 54rem)").matches;
    fill(this.cards, tab.cards.length > 0 && el("details", { open: Boolean(open) }, el("summary", null, `Try this (${tab.cards.length})`), list));
  }

  showBorrow() {
    const { text } = this;
    const [same, first] = [text === this.texts[SHARED], text === this.textAtStart];
    this.whose.hidden = this.tab.text === undefined;
    this.borrow.hidden = same && first;
    this.borrow.textContent = same ? "Back to the text it began with" : "Use the text of the other tabs";
  }

  showFigures(strip) {
    if (this.figures.hidden) return;
    const figure = (name, words, value, title) => el("div", { data: { figure: name }, title }, el("dt", null, words), el("dd", null, value));
    fill(this.figures,
      figure("characters", "characters", count(strip.characters)),
      figure("bytes", "bytes", count(strip.bytes)),
      figure("pretokens", "pre-tokens", count(strip.pretokens)),
      figure("tokens", "tokens", count(strip.tokens)),
      figure("bytes_per_token", "bytes/token", ratio(strip.bytes_per_token)),
      figure("round_trip", "round trip", strip.round_trip ? "✓ same bytes" : "✗ differs", "decoding the tokens gives the text back"),
      figure("unknown_bytes", "unknown bytes", count(strip.unknown_bytes)));
  }

  showError({ message }) {
    const fresh = this.drawn !== this.tab;
    this.root.classList.toggle("stale", !fresh);
    fill(this.alert, el("p", null, message), el("button", { type: "button", on: { click: () => this.startOver() } }, "Start this tab over"));
  }

  startOver() {
    this.reset(this.tab);
    this.view[this.tab.id] = {};
    fill(this.alert);
    this.showAll();
    this.writeAddress();
    this.ask();
  }

  inspect(node) {
    fill(this.details, node ? [el("h2", null, "Details"), node] : null);
    this.details.hidden = !node;
  }

  say(words) {
    this.status.textContent = words;
  }

  async copyLink() {
    this.writeAddress();
    let words = "✓ copied";
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      words = "copy it from the address bar";
    }
    if (address.read().text === null) words += " (without the text: it is too long)";
    this.share.textContent = words;
    this.say(words);
    setTimeout(() => { this.share.textContent = "⧉ copy link"; }, 2500);
  }

  moveTab(event) {
    const place = this.tabs.indexOf(this.tab);
    const last = this.tabs.length - 1;
    const next = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place === 0 ? last : place - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.setTab(this.tabs[next].id);
    this.nav.children[next].focus();
  }

  async drop(event) {
    const file = event.dataTransfer?.files[0];
    if (!file || !this.source.live) return;
    event.preventDefault();
    const most = this.session.limits.text_bytes;
    if (file.size > most) {
      this.showError({ message: `${file.name} has ${count(file.size)} bytes, and the explorer takes ${count(most)}.` });
      return;
    }
    this.setText(await file.text());
  }
}

/* Remember where the focus and the selection are, and give a function that brings them back. */
function keepPlace(root) {
  const node = document.activeElement;
  if (!node?.id || !root.contains(node)) return () => {};
  const { id } = node;
  const range = editable(node) && node.selectionStart !== undefined ? [node.selectionStart, node.selectionEnd] : null;
  return () => {
    const again = document.getElementById(id);
    if (!again) return;
    again.focus({ preventScroll: true });
    try {
      if (range && range[0] !== null) again.setSelectionRange(...range);
    } catch {
      // numbers and selects have no selection
    }
  };
}

function keysDialog() {
  const rows = [["Tab, Shift+Tab", "from one part to the next"], ["← → Home End", "between tabs, tokens and steps"], ["/", "to the text"], ["Space", "play and stop"], ["↑ ↓", "move a line of a chart"], ["?", "these keys"], ["Esc", "close"]];
  return el("dialog", { id: "keys-dialog", "aria-label": "Keys" }, el("h2", null, "Keys"),
    el("dl", { class: "facts" }, rows.map(([key, what]) => el("div", null, el("dt", null, el("kbd", null, key)), el("dd", null, what)))),
    el("form", { method: "dialog" }, el("button", null, "Close")));
}

async function start() {
  const app = document.getElementById("app");
  try {
    const source = await connect();
    const tabs = await Promise.all(source.session.tabs.map(loadTab));
    if (tabs.length === 0) throw new Error("there are no tabs");
    globalThis.byteloomShell = new Shell(source, tabs);
  } catch (error) {
    console.error(error);
    fill(app, el("p", { class: "wait", role: "alert" }, `The explorer could not start: ${error.message}`));
  }
}

start();
