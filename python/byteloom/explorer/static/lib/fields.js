/* The controls of a tab that is kept between two drawings: a slider that is being dragged must stay where it is.
 *
 *   fields(prefix, specs, onChange)   { node, update(values, { live, bounds, choices }) }
 *     specs:    [{ name, label, kind, choices?, min?, max?, step?, hint?, shown?: (values) => bool }]
 *       kind:   "select" (choices: [[value, label], …]), "check", "range" (a slider with a field of the same number),
 *               "number", "text", "date"
 *     onChange: (name, value) for every change by the reader
 *     update:   what the controls show; `bounds` is { name: { min, max, step } }, `choices` { name: [[value, label], …] }
 *   keep(kept, root, build)           `kept` with `controls` (what build() gave) and an empty-able `stage` below it, both
 *                                     in the root; made once, and left in place by a shell that leaves them in place
 */

import { el, fill } from "./dom.js";

function numberOf(input) {
  const value = Number(input.value);
  if (input.value.trim() === "" || !Number.isFinite(value)) return null;
  return Math.min(Number(input.max), Math.max(Number(input.min), value));
}

function oneInput(type, set, attrs, change) {
  const input = el("input", { type, ...attrs, on: { [type === "checkbox" || type === "date" ? "change" : "input"]: () => change(type === "checkbox" ? input.checked : input.value) } });
  return { inputs: [input], set: (value) => { if (type === "checkbox") input.checked = value; else if (document.activeElement !== input) input.value = value ?? ""; } };
}

function menu(spec, attrs, change) {
  let values = [];
  const select = el("select", { ...attrs, on: { change: () => change(values[select.selectedIndex]) } });
  const choose = (choices) => {
    values = choices.map((choice) => choice[0]);
    fill(select, choices.map(([, text]) => el("option", null, text)));
  };
  choose(spec.choices);
  return { inputs: [select], choose, set: (value) => { select.selectedIndex = values.indexOf(value); } };
}

function numbers(spec, attrs, change) {
  const bounds = { min: spec.min, max: spec.max };
  const exact = el("input", { type: "number", ...bounds, step: "any", ...attrs });
  const slider = spec.kind === "range" ? el("input", { type: "range", ...bounds, step: spec.step ?? 1, id: `${attrs.id}-slider`, "aria-label": spec.label }) : null;
  exact.addEventListener("change", () => { const value = numberOf(exact); if (value !== null) change(value); });
  slider?.addEventListener("input", () => { exact.value = slider.value; change(Number(slider.value)); });
  return {
    inputs: slider ? [slider, exact] : [exact],
    bound: ({ min, max, step }) => {
      Object.assign(exact, { min, max });
      if (slider) Object.assign(slider, { min, max, step });
    },
    set: (value) => {
      if (slider && document.activeElement !== slider) slider.value = value;
      if (document.activeElement !== exact) exact.value = Number(value.toFixed(4));
    },
  };
}

function control(prefix, spec, change) {
  const id = `${prefix}-${spec.name}`;
  const hint = spec.hint && el("small", { class: "hint", id: `${id}-hint` }, spec.hint);
  const attrs = { id, "aria-describedby": spec.hint ? `${id}-hint` : null };
  const label = el("label", { for: id }, spec.label);
  const made = spec.kind === "select" ? menu(spec, attrs, change)
    : spec.kind === "range" || spec.kind === "number" ? numbers(spec, attrs, change)
      : oneInput(spec.kind === "check" ? "checkbox" : spec.kind, spec, { ...attrs, autocomplete: "off", spellcheck: "false" }, change);
  made.node = el("div", { class: ["field", spec.kind] }, spec.kind === "check" ? [made.inputs, label] : [label, made.inputs], hint);
  return made;
}

export function fields(prefix, specs, onChange) {
  const controls = specs.map((spec) => {
    let wait = null;
    const change = (value) => {
      if (spec.kind === "range") return onChange(spec.name, value); // the picture follows the hand
      clearTimeout(wait);
      wait = setTimeout(() => onChange(spec.name, value));
    };
    return [spec, control(prefix, spec, change)];
  });
  const node = el("fieldset", { class: "fields", "aria-label": "Options" }, controls.map(([, made]) => made.node));
  function update(values, { live = true, bounds = {}, choices = {} } = {}) {
    node.disabled = !live;
    for (const [spec, made] of controls) {
      if (choices[spec.name]) made.choose(choices[spec.name]);
      if (bounds[spec.name]) made.bound(bounds[spec.name]);
      made.set(values[spec.name]);
      made.node.hidden = Boolean(spec.shown && !spec.shown(values));
    }
  }
  return { node, update };
}

export function keep(kept, root, build) {
  if (kept.root !== root) Object.assign(kept, { root, stage: el("div"), controls: build() });
  if (kept.stage.parentNode !== root) fill(root, kept.controls, kept.stage);
  return kept;
}
