/* Elements without innerHTML: text enters as text only.
 *
 *   el(tag, attrs?, ...children)   an HTML element
 *   svg(tag, attrs?, ...children)  an SVG element
 *   fill(node, ...children)        replace the children of a node; returns the node
 *   settle(node, ...children)      the same, but children that stand there already are left alone, which costs nothing
 *   memo(store, name, key, make)   what make() gave before, where the key (any JSON) is the same and it is still in the page;
 *                                  make() gives a node or a list. With settle: a key redraws only what it changes
 *   scrollX(label, attrs?, ...children)   a box of class `scroll-x`: it scrolls sideways, fades where more is hidden, and the
 *                                  keyboard reaches it
 *   folded(summary, make, attrs?)  a <details> whose content make() gives when it is opened
 *
 * attrs: `class` (string or list; false entries are left out), `on: {click: f}`, `data: {name: value}`,
 * `style: {"--x": 3}` (set through the CSSOM: the page's policy forbids style attributes), everything else is an
 * attribute: true sets it empty; false, null and undefined leave it out. ARIA: `"aria-label": "…"`.
 * children: strings and numbers become text; nodes are appended; lists are flattened; null and false are left out.
 */

const SVG = "http://www.w3.org/2000/svg";

function build(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "class") {
      const classes = Array.isArray(value) ? value.filter(Boolean).join(" ") : value;
      if (classes) node.setAttribute("class", classes);
    } else if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (name === "data") {
      for (const [key, item] of Object.entries(value)) node.dataset[key] = item;
    } else if (name === "style") {
      for (const [key, item] of Object.entries(value)) node.style.setProperty(key, item);
    } else if (name.startsWith("on")) {
      throw new Error(`${name}: handlers are given in \`on\``);
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child instanceof Node ? child : String(child));
  }
}

export function el(tag, attrs, ...children) {
  return build(document.createElement(tag), attrs, children);
}

export function svg(tag, attrs, ...children) {
  return build(document.createElementNS(SVG, tag), attrs, children);
}

export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

export function settle(node, ...children) {
  const wanted = flat(children);
  const stay = new Set(wanted);
  for (const child of Array.from(node.childNodes)) if (!stay.has(child)) child.remove();
  wanted.forEach((child, place) => {
    if (node.childNodes[place] !== child) node.insertBefore(child, node.childNodes[place] ?? null);
  });
  return node;
}

export function memo(store, name, key, make) {
  const text = JSON.stringify(key);
  const known = store[name];
  if (known?.text !== text || !known.nodes.every((node) => node.isConnected)) store[name] = { text, nodes: flat([make()]) };
  return store[name].nodes;
}

export function scrollX(label, attrs, ...children) {
  return el("div", { tabindex: "0", role: "region", "aria-label": label, ...attrs, class: ["scroll-x", attrs?.class] }, ...children);
}

export function folded(summary, make, attrs) {
  const node = el("details", attrs, el("summary", null, summary));
  node.addEventListener("toggle", () => append(node, [make()]), { once: true });
  return node;
}
