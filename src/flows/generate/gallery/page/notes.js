// Reasons and notes: a panel on the card that they are about, and one in the large view.

import { change, notedCard } from "./decide.js";
import { cloneTemplate, findReview, isReviewable, part, toLabel } from "./review.js";

/** @typedef {import("./cards.js").Card} Card */

/** Why images are rejected, in the order of the keys 1 to 6. A click puts the word into the note. */
const reasons = ["colors", "fit", "face", "hands", "background", "other"];

/** A panel with reasons and a note about the card that `cardOfPanel` gives. */
export class Notes {
  element = cloneTemplate("notes");
  #input = part(this.element, "input", HTMLInputElement);
  #reasons = part(this.element, ".reasons", HTMLElement);
  /** @type {() => Card | undefined} */
  #cardOfPanel;

  /** @param {() => Card | undefined} cardOfPanel */
  constructor(cardOfPanel) {
    this.#cardOfPanel = cardOfPanel;
    for (const [at, reason] of reasons.entries()) {
      const button = cloneTemplate("reason");
      part(button, "kbd", HTMLElement).textContent = String(at + 1);
      part(button, "span", HTMLElement).textContent = reason;
      button.dataset.reason = reason;
      button.addEventListener("click", () => this.choose(at));
      this.#reasons.append(button);
    }
    this.#input.addEventListener("input", () => {
      const card = cardOfPanel();
      if (card !== undefined) change([{ card, review: { note: this.#input.value } }]);
    });
  }

  /** Chooses the reason at an index, or takes it back; gives whether there is one. @param {number} at */
  choose(at) {
    const card = this.#cardOfPanel();
    const reason = reasons[at];
    if (card === undefined || reason === undefined) return false;
    const { decision, reasons: chosen = [] } = findReview(card.result);
    if (decision !== "reject") return false;
    const others = reasons.filter((one) => chosen.includes(one) !== (one === reason));
    change([{ card, review: { reasons: others } }]);
    this.refresh();
    return true;
  }

  /** Shows the reasons and the note of its card. */
  refresh() {
    const card = this.#cardOfPanel();
    if (card === undefined) return;
    const { decision, note, reasons: chosen = [] } = findReview(card.result);
    this.#reasons.hidden = decision !== "reject";
    for (const button of this.#reasons.children)
      button.setAttribute("aria-pressed", String(chosen.includes(button.getAttribute("data-reason") ?? "")));
    if (this.#input.value !== note) this.#input.value = note;
    this.#input.setAttribute("aria-label", `Note on ${toLabel(card.result)}`);
  }

  focus() {
    this.#input.focus();
  }
}

/** Whether a person writes a note on a card that is not rejected. */
let isWriting = false;
export const cardNotes = new Notes(() => notedCard());

/** Shows the panel on the card that was rejected, or on which a person writes; else nowhere. */
export function placeNotes() {
  const card = notedCard();
  const isWanted =
    card !== undefined &&
    isReviewable(card.result) &&
    !card.item.hidden &&
    (isWriting || findReview(card.result).decision === "reject");
  const { element } = cardNotes;
  const picture = isWanted ? part(card.card, ".picture", HTMLElement) : null;
  if (element.previousElementSibling !== picture) {
    // The focus leaves it before it moves: its loss ends writing, which places the panel too.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && element.contains(focused)) focused.blur();
    if (picture === null) element.remove();
    else picture.after(element);
  }
  cardNotes.refresh();
}

/** Has a person write on a card; gives whether they can. */
export function writeNote() {
  const card = notedCard();
  if (card === undefined || !isReviewable(card.result)) return false;
  isWriting = true;
  placeNotes();
  cardNotes.focus();
  return true;
}

/** Ends writing, after the focus has left the note. */
export function endNote() {
  isWriting = false;
  placeNotes();
}
