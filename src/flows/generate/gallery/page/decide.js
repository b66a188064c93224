// Deciding about a result, from a card or from the large view.

import { refresh, showProgress } from "./cards.js";
import { announce, part } from "./elements.js";
import { decisionNames, labelOf, statusName } from "./names.js";
import { areKept, counts, isReviewable, setReview } from "./review.js";

/** @typedef {import("./cards.js").Card} Card */

/** @type {Readonly<Record<string, import("./review.js").Decision>>} */
export const decisionKeys = { a: "approve", r: "reject", u: "" };

/** Gives what a screen reader is to say of it; null where the result cannot be decided about. @param {Card} card @param {import("./review.js").Decision} decision */
export function decide(card, decision) {
  const { result } = card;
  if (!isReviewable(result)) {
    announce(`${statusName(result.status)}: there is no image to review.`);
    return null;
  }
  setReview(result, { decision });
  refresh(card);
  showProgress();
  warnIfLost();
  const { approved, rejected, all } = counts();
  const sentence = `${labelOf(result)}: ${decisionNames[decision]}. ${approved + rejected} of ${all} reviewed.`;
  announce(sentence);
  return sentence;
}

/** @param {Card} card @param {string} note */
export function setNote(card, note) {
  setReview(card.result, { note });
  refresh(card);
  warnIfLost();
}

/** Warns where the browser does not keep the decisions. */
export function warnIfLost() {
  part(document, "#lost", HTMLElement).hidden = areKept();
}
