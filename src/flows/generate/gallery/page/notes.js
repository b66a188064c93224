// Reasons and notes: a panel on the card that they are about, and one in the large view.

import { notedCard, setNote } from "./decide.js";
import { cloneOf, isReviewable, labelOf, part, reviewOf } from "./review.js";

/** @typedef {import("./cards.js").Card} Card */

/** Why images are rejected, in the order of the keys 1 to 6. A click puts the word into the note. */
const reasons = ["colors", "fit", "face", "hands", "background", "other"];

/** The note of a rejected image begins with its reasons; the rest is what a person wrote. @param {Card} card */
function partsOf({ result }) {
  const { decision, note } = reviewOf(result);
  /** @type {string[]} */
  const chosen = [];
  let text = note;
  while (decision === "reject") {
    const [reason = "", ...rest] = text.split(", ");
    if (!reasons.includes(reason)) break;
    chosen.push(reason);
    text = rest.join(", ");
  }
  return { chosen, text };
}

/** @param {readonly string[]} chosen @param {string} text */
const noteOf = (chosen, text) => [...chosen, ...(text === "" ? [] : [text])].join(", ");

/** A panel with reasons and a note about the card that `cardOfPanel` gives. */
export class Notes {
  element = cloneOf("notes");
  #input = part(this.element, "input", HTMLInputElement);
  #reasons = part(this.element, ".reasons", HTMLElement);
  /** The reasons as they were shown last: a person may write the word of another. @type {readonly string[]} */
  #chosen = [];
  /** @type {() => Card | undefined} */
  #cardOfPanel;

  /** @param {() => Card | undefined} cardOfPanel */
  constructor(cardOfPanel) {
    this.#cardOfPanel = cardOfPanel;
    for (const [at, reason] of reasons.entries()) {
      const button = cloneOf("reason");
      part(button, "kbd", HTMLElement).textContent = String(at + 1);
      part(button, "span", HTMLElement).textContent = reason;
      button.dataset.reason = reason;
      button.addEventListener("click", () => this.choose(at));
      this.#reasons.append(button);
    }
    this.#input.addEventListener("input", () => {
      const card = cardOfPanel();
      if (card !== undefined) setNote(card, noteOf(this.#chosen, this.#input.value));
    });
  }

  /** Chooses the reason at an index, or takes it back; gives whether there is one. @param {number} at */
  choose(at) {
    const card = this.#cardOfPanel();
    const reason = reasons[at];
    if (card === undefined || reason === undefined || reviewOf(card.result).decision !== "reject")
      return false;
    const { chosen, text } = partsOf(card);
    const others = reasons.filter((one) => chosen.includes(one) !== (one === reason));
    setNote(card, noteOf(others, text));
    this.refresh();
    return true;
  }

  /** Shows the reasons and the note of its card. */
  refresh() {
    const card = this.#cardOfPanel();
    if (card === undefined) return;
    this.#reasons.hidden = reviewOf(card.result).decision !== "reject";
    const { chosen, text } = partsOf(card);
    this.#chosen = chosen;
    for (const button of this.#reasons.children)
      button.setAttribute("aria-pressed", String(chosen.includes(button.getAttribute("data-reason") ?? "")));
    if (this.#input.value !== text) this.#input.value = text;
    this.#input.setAttribute("aria-label", `Note on ${labelOf(card.result)}`);
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
    (isWriting || reviewOf(card.result).decision === "reject");
  if (!isWanted) return cardNotes.element.remove();
  const picture = part(card.card, ".picture", HTMLElement);
  if (cardNotes.element.parentElement !== picture) picture.append(cardNotes.element);
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
