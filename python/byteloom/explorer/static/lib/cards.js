/* "Try this": a card sets up an example and says what to look for. The shell draws them; a tab only lists them.
 *
 *   cards(list, { current, disabled, onChoose })   the list of cards; `current` is the id of the chosen one
 *     list: [{ id, title, setup: { text?, options?, tokenizer? }, look }]
 */

import { el } from "./dom.js";

export function cards(list, { current, onChoose, available = () => true }) {
  return el("ul", { class: "cards" }, list.map((card) => {
    const chosen = card.id === current;
    return el("li", { class: ["card", chosen && "chosen"], data: { card: card.id } },
      el("button", { type: "button", "aria-expanded": String(chosen), disabled: !available(card), on: { click: () => onChoose(card) } }, card.title),
      chosen && el("p", { class: "look" }, el("strong", null, "Look for: "), card.look));
  }));
}
