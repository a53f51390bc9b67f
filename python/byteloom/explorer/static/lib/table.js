/* Tables that a screen reader can read and a narrow screen can hold.
 *
 *   table({ caption, columns, rows, foot?, limit?, sortable?, class? })
 *     columns:  [{ key, title, number?: bool, format?: (value, row) => string | node, sort?: (row) => value }]
 *     rows:     objects by key; `_class` is the class of a row, `_inspect` a function called when it is clicked
 *     limit:    rows drawn at once (default 200); a button shows more
 *     sortable: heads are buttons (default true from 3 rows on)
 *   facts([[name, value], …], across?)    a short list of names and values; `across`: side by side, each name above its value
 */

import { el, fill, scrollX } from "./dom.js";
import { count } from "./signs.js";

export function table(options) {
  const { caption, columns, rows, foot, limit = 200 } = options;
  const sortable = options.sortable ?? rows.length > 2;
  const body = el("tbody");
  const heads = columns.map((column) => el("th", { scope: "col", class: column.number && "n" }));
  let order = null;
  let shown = limit;

  const valueOf = (column, row) => (column.sort ? column.sort(row) : row[column.key]);
  function sorted() {
    if (!order) return rows;
    const { column, sign } = order;
    return rows.slice().sort((a, b) => {
      const [x, y] = [valueOf(column, a), valueOf(column, b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return (x < y ? -1 : 1) * sign;
    });
  }
  const rest = el("button", { type: "button", class: "more", on: { click: () => { shown += limit; draw(); } } });
  function draw() {
    const all = sorted();
    fill(
      body,
      all.slice(0, shown).map((row) =>
        el("tr", { class: row._class ?? null },
          columns.map((column, place) => {
            const value = column.format ? column.format(row[column.key], row) : cell(row[column.key], column);
            const inner = place === 0 && row._inspect ? el("button", { type: "button", class: "link", on: { click: () => row._inspect(row) } }, value) : value;
            return el(place === 0 ? "th" : "td", { scope: place === 0 ? "row" : null, class: column.number && "n" }, inner);
          }))),
    );
    rest.hidden = all.length <= shown;
    rest.textContent = `Show ${count(Math.min(limit, all.length - shown))} of ${count(all.length - shown)} more`;
    columns.forEach((column, place) => {
      const is = order?.column === column;
      heads[place].setAttribute("aria-sort", is ? (order.sign > 0 ? "ascending" : "descending") : "none");
      const mark = is ? (order.sign > 0 ? " ▲" : " ▼") : "";
      if (!sortable || column.title === "") fill(heads[place], column.title);
      else if (!heads[place].firstChild) fill(heads[place], el("button", { type: "button", class: "sort", on: { click: () => sort(column) } }, column.title, el("span", { "aria-hidden": "true" })));
      const sign = heads[place].querySelector("button span");
      if (sign) sign.textContent = mark;
    });
  }
  function sort(column) {
    const first = column.number ? -1 : 1;
    if (order?.column !== column) order = { column, sign: first };
    else order = order.sign === first ? { column, sign: -first } : null;
    draw();
  }
  draw();
  const grid = el("table", { class: options.class ?? null, "aria-label": caption ?? null }, el("thead", null, el("tr", null, heads)), body,
    foot && el("tfoot", null, el("tr", null, columns.map((column) => el("td", { class: column.number && "n" }, foot[column.key] ?? "")))));
  // A wide table scrolls in its own box, which the keyboard can reach, and not the page; what it is called stays in sight.
  return el("div", { class: "scroll" }, caption && el("p", { class: "caption", "aria-hidden": "true" }, caption), scrollX(caption ?? "Table", null, grid), rest);
}

function cell(value, column) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return column.number && !Number.isInteger(value) ? value.toFixed(2) : count(value);
  return value;
}

export function facts(pairs, across = false) {
  return el("dl", { class: ["facts", across && "across"] }, pairs.filter(Boolean).map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));
}
