// The start of the page: keys and buttons.

import { addCards, cards, findCard, measureCards, refresh, showProgress } from "./cards.js";
import {
  currentCard,
  decide,
  decisionKeys,
  findNeighbor,
  firstCard,
  focusCard,
  inNextRow,
  lastCard,
  makeCurrent,
  notedCard,
  setJustDecided,
  undo,
  warnIfLost,
} from "./decide.js";
import { addFilters, applyFilters, productFilter } from "./filters.js";
import { wireSwipes } from "./gestures.js";
import { focusLarge, isLargeOpen, openLarge, pressInLarge, refreshLarge, wireLarge } from "./large-view.js";
import { cardNotes, endNote, placeNotes, writeNote } from "./notes.js";
import { announce, areKept, data, isOfReviews, isUnsaved, loadReviews, part } from "./review.js";
import { wireSave } from "./save.js";

/** @typedef {import("./cards.js").Card} Card */
/** @typedef {import("./review.js").Decision} Decision */

const help = part(document, "#keys", HTMLDialogElement);
const isQuestionOpen = () => part(document, "#approve-shown", HTMLDialogElement).open;

/** @param {EventTarget | null} target */
const isTyped = (target) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLSelectElement ||
  target instanceof HTMLTextAreaElement;

function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (help.open || isQuestionOpen()) return;
    const isHandled = isTyped(event.target)
      ? leaveField(event)
      : event.key === "p"
        ? togglePhotos()
        : isLargeOpen()
          ? pressInLarge(event.key)
          : onPage(event);
    if (isHandled) event.preventDefault();
  });
  part(document, "#show-keys", HTMLElement).addEventListener("click", () => help.showModal());
  part(help, ".close", HTMLElement).addEventListener("click", () => help.close());
}

/** @param {KeyboardEvent} event */
function leaveField({ key, target }) {
  const isLeft = key === "Escape" || (key === "Enter" && target instanceof HTMLInputElement);
  if (!isLeft || !(target instanceof HTMLElement)) return false;
  if (isLargeOpen()) focusLarge();
  else {
    const card = visibleCard();
    if (card === undefined) return false;
    focusCard(card);
  }
  return true;
}

/** Shows or hides the photos of products and the earlier images. */
function togglePhotos() {
  const isHidden = document.documentElement.classList.toggle("no-photos");
  part(document, "#photos", HTMLElement).setAttribute("aria-pressed", String(!isHidden));
  measureCards();
  if (!isLargeOpen()) currentCard()?.item.scrollIntoView({ block: "nearest" });
  announce(isHidden ? "Photos are hidden." : "Photos are shown.");
  return true;
}

/** The current card, if the filters show it; else the first one. */
function visibleCard() {
  const card = currentCard();
  return card === undefined || card.item.hidden ? firstCard() : card;
}

/** @param {KeyboardEvent} event */
function onPage({ key, target }) {
  if (key === "/") {
    productFilter.closest("form")?.classList.add("open");
    productFilter.focus();
    productFilter.select();
    return true;
  }
  if (key === "?") {
    help.showModal();
    return true;
  }
  if (key === "u") return undoOnPage();
  const card = findCard(target);
  // A link or a button keeps the keys that press it.
  const isControl = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement;
  if (card === undefined && isControl && key === "Enter") return false;
  const next = moved(key, card);
  if (next !== undefined) {
    setJustDecided(undefined);
    focusCard(next);
    placeNotes();
    return true;
  }
  return card !== undefined && onCard(key, card, target);
}

function undoOnPage() {
  const card = undo();
  if (card === undefined) return true;
  setJustDecided(undefined);
  if (card.item.hidden) makeCurrent(visibleCard() ?? card);
  else focusCard(card);
  placeNotes();
  return true;
}

/** Where a key leads from a card; from elsewhere, such as the first link, each key leads to the current card, so that no one decides unseen. @param {string} key @param {Card | undefined} card */
function moved(key, card) {
  const isMove = /^(j|k|Home|End|Arrow(Left|Right|Up|Down))$/.test(key);
  if (card === undefined && (key === "n" || key === "Enter" || key in decisionKeys)) return visibleCard();
  if (!isMove) return undefined;
  if (key === "Home") return firstCard();
  if (key === "End") return lastCard();
  if (card === undefined) return visibleCard();
  if (key === "ArrowDown") return inNextRow(card, 1) ?? card;
  if (key === "ArrowUp") return inNextRow(card, -1) ?? card;
  return findNeighbor(card, key === "j" || key === "ArrowRight" ? 1 : -1) ?? card;
}

/** @param {string} key @param {Card} card @param {EventTarget | null} target */
function onCard(key, card, target) {
  if (key === "Enter" && target === card.card) {
    openLarge(card);
    return true;
  }
  if (key === "n") return writeNote();
  if (/^[1-6]$/.test(key)) return cardNotes.choose(Number(key) - 1);
  const decision = decisionKeys[key];
  if (decision === undefined) return false;
  if (decide(card, decision) === null) return true;
  // A decision leads to the next image; the last one stays.
  const next = findNeighbor(card, 1);
  setJustDecided(next === undefined ? undefined : card);
  if (next !== undefined) focusCard(next);
  else announce("That was the last image.");
  placeNotes();
  return true;
}

function start() {
  part(document, "#title", HTMLElement).textContent = data.title;
  loadReviews();
  addFilters();
  addCards();
  applyFilters(false);
  showProgress();
  warnIfLost();
  if (cards[0] !== undefined) makeCurrent(cards[0]);
  wireCards();
  wireKeys();
  wireLarge();
  wireSave();
  part(document, "#undo", HTMLElement).addEventListener("click", undoOnPage);
  part(document, "#photos", HTMLElement).addEventListener("click", togglePhotos);
  addEventListener("resize", measureCards);
  addEventListener("storage", (event) => {
    if (isOfReviews(event)) showAgain();
  });
  addEventListener("beforeunload", (event) => {
    if (isUnsaved() && !areKept()) event.preventDefault();
  });
  part(document, "#loading", HTMLElement).remove();
}

/** One listener for all cards: there may be thousands. */
function wireCards() {
  const products = part(document, "#products", HTMLElement);
  products.addEventListener("focusin", ({ target }) => {
    const card = findCard(target);
    // The panel may be on the card before the current one: both stay what they are.
    if (card === undefined || card === currentCard() || card === notedCard()) return;
    makeCurrent(card);
    setJustDecided(undefined);
    placeNotes();
  });
  cardNotes.element.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && cardNotes.element.contains(relatedTarget))) endNote();
  });
  products.addEventListener("click", ({ target }) => {
    const card = findCard(target);
    if (card === undefined || !(target instanceof Element)) return;
    const button = target.closest("button[data-decision]");
    if (button !== null) decideByClick(card, button);
    else if (target.closest(".frame") !== null) openLarge(card);
    else if (target.closest("button, input, label") === null && getSelection()?.isCollapsed !== false) {
      setJustDecided(undefined);
      focusCard(card);
      placeNotes();
    }
  });
  wireSwipes(products, ".picture > .frame", (picture, decision) => {
    const card = findCard(picture);
    if (card !== undefined) decideHere(card, decision);
  });
}

/** A pressed button takes its decision back. @param {Card} card @param {Element} button */
function decideByClick(card, button) {
  const isPressed = button.getAttribute("aria-pressed") === "true";
  decideHere(card, isPressed ? "" : /** @type {Decision} */ (button.getAttribute("data-decision")));
}

/** Decides about a card that a person points at, and stays there. @param {Card} card @param {Decision} decision */
function decideHere(card, decision) {
  setJustDecided(undefined);
  makeCurrent(card);
  decide(card, decision);
  placeNotes();
}

/** Shows decisions that another window of the same page has made. */
function showAgain() {
  loadReviews();
  for (const card of cards) refresh(card);
  refreshLarge();
  placeNotes();
  showProgress();
}

start();
