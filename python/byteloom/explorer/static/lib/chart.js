/* Small charts in SVG, each with a table of the same numbers behind "as a table".
 *
 *   lineChart({ label, x: {title, format?}, y: {title, format?, from?, to?}, series, marks?, height?, onPick? })
 *     series:  [{ name, points: [[x, y], …], step?: bool }]   lines differ in dash as well as in colour
 *     marks:   [{ y, label, drag?: (y) => …, least?, most?, step? } | { x, label }]   a line across; with `drag` it can be moved
 *              with the pointer and with ↑/↓ (a slider for screen readers)
 *     onPick:  (index of the point, series) when a point is clicked
 *   barChart({ label, x: {title}, y: {title, format?}, bars: [{ label, value, note?, kind? }], height?, width? })
 *     width:   the most, where it stands in a narrow column: its words are as large as in a wide one
 *     kind:    "on" draws the bar hatched as well as in another colour
 *   Both return a <figure>.
 */

import { el, svg } from "./dom.js";
import { ratio } from "./signs.js";
import { table } from "./table.js";

let WIDTH = 640; // in the units of the drawing; fewer on a phone, so that its words stay readable
const PAD = { left: 52, right: 12, top: 10, bottom: 36 };

function ticks(low, high, most = 5) {
  const span = high - low || 1;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= rough);
  const found = [];
  for (let i = Math.ceil(low / unit - 1e-9); i * unit <= high + unit * 1e-9; i++) found.push(Number((i * unit).toPrecision(12)));
  return found;
}

// Not Math.min(...values): very many arguments are too many.
const least = (values, first) => values.reduce((a, b) => (b < a ? b : a), first);
const most = (values, first) => values.reduce((a, b) => (b > a ? b : a), first);
const plain = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : ratio(value));

function frame(height, x, y, place) {
  const bottom = height - PAD.bottom;
  return svg("g", { class: "axes" },
    y.ticks.map((value) => [
      svg("line", { class: "grid", x1: PAD.left, x2: WIDTH - PAD.right, y1: place.y(value), y2: place.y(value) }),
      svg("text", { x: PAD.left - 6, y: place.y(value) + 4, "text-anchor": "end" }, (y.format ?? plain)(value)),
    ]),
    x.ticks?.map((value) => svg("text", { x: place.x(value), y: bottom + 15, "text-anchor": "middle" }, (x.format ?? plain)(value))),
    svg("line", { x1: PAD.left, x2: WIDTH - PAD.right, y1: bottom, y2: bottom }),
    svg("text", { class: "title", x: (PAD.left + WIDTH - PAD.right) / 2, y: height - 4, "text-anchor": "middle" }, x.title),
    svg("text", { class: "title", x: 12, y: (PAD.top + bottom) / 2, transform: `rotate(-90 12 ${(PAD.top + bottom) / 2})`, "text-anchor": "middle" }, y.title),
  );
}

function figure(label, picture, twin, extra) {
  const details = el("details", null, el("summary", null, "as a table"));
  // Built when it is opened: charts are drawn anew at every key.
  details.addEventListener("toggle", () => details.append(twin()), { once: true });
  return el("figure", { class: "chart" }, el("figcaption", null, label), el("div", { class: "picture" }, picture), extra, details);
}

let measured = false; // asking for it makes the browser lay the page out
window.addEventListener("resize", () => { measured = false; });

function measure() {
  if (!measured) WIDTH = Math.max(320, Math.min(640, document.documentElement.clientWidth - 24));
  measured = true;
}

export function lineChart({ label, x, y, series, marks = [], height = 240, onPick }) {
  measure();
  const width = WIDTH;
  const all = series.flatMap((line) => line.points);
  const values = marks.filter((mark) => mark.y !== undefined).map((mark) => mark.y);
  for (const point of all) values.push(point[1]);
  const low = y.from ?? least(values, 0);
  const high = y.to ?? most(values, low + 1e-9);
  const across = all.map((point) => point[0]);
  const left = least(across, across[0] ?? 0);
  const right = most(across, across.length > 0 ? left + 1e-9 : 1);
  const bottom = height - PAD.bottom;
  const place = {
    x: (value) => PAD.left + ((value - left) / (right - left)) * (WIDTH - PAD.left - PAD.right),
    y: (value) => bottom - ((value - low) / (high - low || 1)) * (bottom - PAD.top),
  };
  const lines = series.map((line, number) => {
    let path = "";
    line.points.forEach(([px, py], i) => {
      const [cx, cy] = [place.x(px).toFixed(1), place.y(py).toFixed(1)];
      path += i === 0 ? `M${cx} ${cy}` : line.step ? `H${cx}V${cy}` : `L${cx} ${cy}`;
    });
    return svg("path", { class: `line line-${number % 6}`, d: path });
  });
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
    frame(height, { ...x, ticks: ticks(left, right, WIDTH / 80) }, { ...y, ticks: ticks(low, high) }, place), lines,
    marks.map((mark) => drawMark(mark, place, height)));
  for (const mark of marks) if (mark.drag) makeDraggable(picture, mark, { low, high, bottom, height });
  if (onPick) {
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const wanted = left + (((event.clientX - box.left) / box.width) * width - PAD.left) / (width - PAD.left - PAD.right) * (right - left);
      let best = 0;
      series[0].points.forEach(([px], i) => { if (Math.abs(px - wanted) < Math.abs(series[0].points[best][0] - wanted)) best = i; });
      onPick(best, series[0]);
    });
  }
  const rows = () => all.length > 0 ? series[0].points.map(([px], i) => ({ x: px, ...Object.fromEntries(series.map((line, n) => [`s${n}`, line.points[i]?.[1] ?? null])) })) : [];
  const number = (format) => (value) => (value === null ? "–" : (format ?? plain)(value));
  const twin = () => table({ caption: label, rows: rows(), limit: 50, columns: [{ key: "x", title: x.title, number: true, format: number(x.format) }, ...series.map((line, n) => ({ key: `s${n}`, title: line.name, number: true, format: number(y.format) }))] });
  const names = series.length > 1 && el("ul", { class: "legend" }, series.map((line, n) => el("li", null, svg("svg", { class: "key", viewBox: "0 0 28 8", "aria-hidden": "true" }, svg("path", { class: `line line-${n % 6}`, d: "M0 4H28" })), " ", line.name)));
  return figure(label, picture, twin, names || null);
}

function drawMark(mark, place, height) {
  if (mark.y !== undefined) {
    const at = place.y(mark.y);
    mark.line = svg("line", { x1: PAD.left, x2: WIDTH - PAD.right, y1: at, y2: at });
    mark.text = svg("text", { x: WIDTH - PAD.right - 4, y: at - 5, "text-anchor": "end" }, mark.label);
    return svg("g", { class: ["mark", mark.drag && "drag"] }, mark.line, mark.text);
  }
  const at = place.x(mark.x);
  return svg("g", { class: "mark" }, svg("line", { x1: at, x2: at, y1: PAD.top, y2: height - PAD.bottom }), svg("text", { x: at + 4, y: PAD.top + 10 }, mark.label));
}

function makeDraggable(picture, mark, { low, high, bottom, height }) {
  const [from, to] = [mark.least ?? low, mark.most ?? high];
  const step = mark.step ?? (high - low) / 50;
  let now = mark.y;
  const move = (value, done) => {
    now = Math.max(from, Math.min(to, value));
    const at = bottom - ((now - low) / (high - low || 1)) * (bottom - PAD.top);
    for (const name of ["y1", "y2"]) { mark.line.setAttribute(name, at); handle.setAttribute(name, at); }
    mark.text.setAttribute("y", at - 5);
    handle.setAttribute("aria-valuenow", now);
    handle.setAttribute("aria-valuetext", ratio(now));
    mark.moved?.(now);
    if (done) mark.drag(now);
  };
  const at = mark.line.getAttribute("y1");
  const handle = svg("line", { class: "handle", x1: PAD.left, x2: WIDTH - PAD.right, y1: at, y2: at, tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": mark.label, "aria-valuemin": from, "aria-valuemax": to, "aria-valuenow": now, "aria-valuetext": ratio(now) });
  const valueAt = (event) => {
    const box = picture.getBoundingClientRect();
    return low + ((bottom - ((event.clientY - box.top) / box.height) * height) / (bottom - PAD.top)) * (high - low);
  };
  handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); event.preventDefault(); handle.focus(); });
  handle.addEventListener("pointermove", (event) => { if (handle.hasPointerCapture(event.pointerId)) move(valueAt(event), false); });
  handle.addEventListener("pointerup", (event) => { if (handle.hasPointerCapture(event.pointerId)) move(valueAt(event), true); });
  handle.addEventListener("keydown", (event) => {
    const by = { ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step, PageUp: 5 * step, PageDown: -5 * step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(now + by, true);
  });
  picture.append(handle);
}

export function barChart({ label, x, y, bars, height = 220, width = 640 }) {
  measure();
  const whole = WIDTH;
  WIDTH = Math.min(whole, width);
  const high = y.to ?? most(bars.map((bar) => bar.value ?? 0), 1e-9);
  const bottom = height - PAD.bottom;
  const wide = (WIDTH - PAD.left - PAD.right) / Math.max(1, bars.length);
  const place = { y: (value) => bottom - (value / high) * (bottom - PAD.top) };
  const every = Math.ceil(bars.length / (WIDTH / 40));
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
    frame(height, x, { ...y, ticks: ticks(0, high) }, place),
    bars.map((bar, i) => [
      svg("rect", { class: ["bar", bar.kind], x: (PAD.left + i * wide + wide * 0.1).toFixed(1), width: (wide * 0.8).toFixed(1), y: place.y(bar.value ?? 0).toFixed(1), height: Math.max(0, bottom - place.y(bar.value ?? 0)).toFixed(1) },
        svg("title", null, `${bar.label}: ${(y.format ?? plain)(bar.value ?? 0)}${bar.note ? `, ${bar.note}` : ""}`)),
      i % every === 0 && svg("text", { x: (PAD.left + (i + 0.5) * wide).toFixed(1), y: bottom + 15, "text-anchor": "middle" }, bar.label),
    ]));
  const twin = () => table({ caption: label, rows: bars, limit: 50, columns: [{ key: "label", title: x.title }, { key: "value", title: y.title, number: true, format: y.format ?? plain }, ...(bars.some((bar) => bar.note) ? [{ key: "note", title: "" }] : [])] });
  WIDTH = whole;
  return figure(label, picture, twin, null);
}
