/* What the address holds: the tab, the text if it is short, the tokenizer, the tab's options and its view.
 *
 *   read()          { tab, text?, long, shared?, sharedLong, tokenizer?, options, view, card? } of the address; nothing in it
 *                   is trusted. `shared` is the text of the other tabs, where the tab has one of its own.
 *   write(state, { push })   put it there
 *   keepText(text, owner), keptText(owner)   a long text stays in this browser's session instead
 */

const LONGEST = 2000;
const KEY = "byteloom-text-";

function object(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

export function read(hash = location.hash) {
  const [tab, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const values = new URLSearchParams(query);
  return {
    tab,
    text: values.get("text"),
    long: values.has("long"),
    shared: values.get("shared"),
    sharedLong: values.has("shared-long"),
    tokenizer: values.get("tokenizer"),
    options: object(values.get("options")),
    view: object(values.get("view")),
    card: values.get("card"),
  };
}

let again = null;

export function write(state, { push = false } = {}) {
  const { tab, text, shared, tokenizer, options, view, card } = state;
  const values = new URLSearchParams();
  if (text.length <= LONGEST) values.set("text", text);
  else values.set("long", "");
  if (typeof shared === "string") values.set(...(shared.length <= LONGEST ? ["shared", shared] : ["shared-long", ""]));
  if (tokenizer) values.set("tokenizer", tokenizer);
  if (Object.keys(options).length > 0) values.set("options", JSON.stringify(options));
  if (Object.keys(view).length > 0) values.set("view", JSON.stringify(view));
  if (card) values.set("card", card);
  const hash = `#${tab}?${values}`;
  if (hash === location.hash) return;
  clearTimeout(again);
  try {
    if (push) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  } catch {
    again = setTimeout(() => write(state), 1000); // browsers allow only so many in a while
  }
}

export function keepText(text, owner) {
  try {
    if (text.length > LONGEST) sessionStorage.setItem(KEY + owner, text);
    else sessionStorage.removeItem(KEY + owner);
  } catch {
    // too long, or storage is forbidden: then the text is not there after a reload
  }
}

export function keptText(owner) {
  try {
    return sessionStorage.getItem(KEY + owner);
  } catch {
    return null;
  }
}
