// Deciding about a result, and moving to the next one: Tab reaches one card and its controls, the arrow keys the others.

import { cards, refresh, showProgress } from "./cards.js";
import {
  announce,
  areKept,
  counts,
  decisionNames,
  isReviewable,
  labelOf,
  part,
  setReview,
  statusName,
} from "./review.js";

/** @typedef {import("./cards.js").Card} Card */

/** @type {Card | undefined} */
let current;

export const currentCard = () => current;

const controls = "button, input, a[href]";

/** Makes a card the one that Tab reaches. @param {Card} card */
export function makeCurrent(card) {
  if (current === card) return;
  if (current !== undefined) setReachable(current, false);
  current = card;
  setReachable(card, true);
}

/** @param {Card} card @param {boolean} isReachable */
function setReachable({ card }, isReachable) {
  card.tabIndex = isReachable ? 0 : -1;
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll(controls)))
    control.tabIndex = isReachable && !control.classList.contains("zoom") ? 0 : -1;
}

/** @param {Card} card */
export function focusCard(card) {
  makeCurrent(card);
  card.card.focus({ preventScroll: true });
  card.item.scrollIntoView({ block: "nearest" });
}

/** @param {Card} card */
const isShown = ({ item }) => !item.hidden;

/** The next card that is shown, or the one before; undefined at either end. @param {Card | undefined} from @param {1 | -1} step */
export function neighborOf(from, step) {
  if (from === undefined) return cards.find(isShown);
  for (let at = cards.indexOf(from) + step; at >= 0 && at < cards.length; at += step) {
    const card = cards[at];
    if (card !== undefined && isShown(card)) return card;
  }
  return undefined;
}

/** The card below or above: of the nearest row, the one whose middle is closest. @param {Card} from @param {1 | -1} step */
export function inNextRow(from, step) {
  const start = from.item.getBoundingClientRect();
  /** @type {Card | undefined} */
  let best;
  let rowTop = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let card = neighborOf(from, step); card !== undefined; card = neighborOf(card, step)) {
    const { top, left } = card.item.getBoundingClientRect();
    if (Math.abs(top - start.top) < 2) continue;
    if (best === undefined) rowTop = top;
    else if (Math.abs(top - rowTop) > 2) break;
    const distance = Math.abs(left - start.left);
    if (distance < least) [best, least] = [card, distance];
  }
  return best;
}

export const firstCard = () => cards.find(isShown);
export const lastCard = () => cards.findLast(isShown);

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
