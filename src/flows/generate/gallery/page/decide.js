// Deciding about a result, and moving to the next one: Tab reaches one card and its controls, the arrow keys the others.

import { cards, refresh, showProgress } from "./cards.js";
import {
  announce,
  areKept,
  counts,
  decisionNames,
  findReview,
  isReviewable,
  part,
  setReviews,
  statusName,
  toLabel,
} from "./review.js";

/** @typedef {import("./cards.js").Card} Card */
/** @typedef {import("./review.js").Decision} Decision */
/** @typedef {import("./review.js").Review} Review */

/** @type {Card | undefined} */
let current;
/** The card that was just decided, while the next one is looked at already: reasons and notes are about it. @type {Card | undefined} */
let justDecided;

export const currentCard = () => current;

/** The card that a reason or a note is about. @param {Card | undefined} shown */
export const notedCard = (shown = current) => justDecided ?? shown;

/** @param {Card | undefined} card */
export function setJustDecided(card) {
  justDecided = card;
}

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
    control.tabIndex = card.tabIndex;
}

/** @param {Card} card */
export function focusCard(card) {
  makeCurrent(card);
  card.card.focus({ preventScroll: true });
  card.item.scrollIntoView({ block: "nearest" });
}

/** @param {Card} card */
export const isShown = ({ item }) => !item.hidden;

/** The next card that is shown, or the one before; undefined at either end. @param {Card | undefined} from @param {1 | -1} step */
export function findNeighbor(from, step) {
  if (from === undefined) return cards.find(isShown);
  for (let at = cards.indexOf(from) + step; at >= 0 && at < cards.length; at += step) {
    const card = cards[at];
    if (card !== undefined && isShown(card)) return card;
  }
  return undefined;
}

/** The card below or above: of the nearest row, the one whose middle is closest. @param {Card} from @param {1 | -1} step */
export function inNextRow(from, step) {
  const start = from.card.getBoundingClientRect();
  /** @type {Card | undefined} */
  let best;
  let rowTop = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let card = findNeighbor(from, step); card !== undefined; card = findNeighbor(card, step)) {
    const { top, left } = card.card.getBoundingClientRect();
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

/** @type {Readonly<Record<string, Decision>>} */
export const decisionKeys = { a: "approve", r: "reject" };

/** Decisions to undo, the last one at the end: the cards that one action decided, with what they had before. @type {{ card: Card, before: Review }[][]} */
const steps = [];

/** Gives what a screen reader is to say of it; null where the result cannot be decided about. @param {Card} card @param {Decision} decision */
export function decide(card, decision) {
  const { result } = card;
  if (!isReviewable(result)) {
    announce(`${statusName(result.status)}: there is no image to review.`);
    return null;
  }
  decideAll([card], decision);
  const { approved, rejected, all } = counts();
  const sentence = `${toLabel(result)}: ${decisionNames[decision]}. ${approved + rejected} of ${all} reviewed.`;
  announce(sentence);
  return sentence;
}

/** Decides about cards in one step, which is undone at once. Reasons are only those of a rejection. @param {readonly Card[]} decided @param {Decision} decision */
export function decideAll(decided, decision) {
  steps.push(decided.map((card) => ({ card, before: findReview(card.result) })));
  change(
    decided.map((card) => ({
      card,
      review: decision === "reject" ? { decision } : { decision, reasons: [] },
    })),
  );
}

/** Undoes the last decision with its reasons; gives its first card, or undefined if there is none. Notes stay. */
export function undo() {
  const step = steps.pop();
  const [first] = step ?? [];
  if (step === undefined || first === undefined) {
    announce("There is nothing to undo.");
    return undefined;
  }
  change(
    step.map(({ card, before: { decision, reasons = [] } }) => ({ card, review: { decision, reasons } })),
  );
  const what = step.length === 1 ? toLabel(first.card.result) : `${step.length} images`;
  announce(`Undone: ${what}${step.length === 1 ? `, ${decisionNames[first.before.decision]}` : ""}.`);
  return first.card;
}

/** Changes the reviews of cards, and shows them. @param {readonly { card: Card, review: Partial<Review> }[]} changes */
export function change(changes) {
  setReviews(changes.map(({ card, review }) => ({ result: card.result, change: review })));
  for (const { card } of changes) refresh(card);
  showProgress();
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".undo")))
    button.disabled = steps.length === 0;
  warnIfLost();
}

/** Warns where the browser does not keep the decisions. */
export function warnIfLost() {
  part(document, "#lost", HTMLElement).hidden = areKept();
}
