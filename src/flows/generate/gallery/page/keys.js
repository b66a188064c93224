// Keys: moving, deciding, and finding things without a mouse.

import { cardOf } from "./cards.js";
import { decide, decisionKeys } from "./decide.js";
import { announce, part } from "./elements.js";
import { productFilter } from "./filters.js";
import { isLargeOpen, openLarge, pressInLarge } from "./large-view.js";
import { currentCard, firstCard, focusCard, inNextRow, lastCard, neighborOf } from "./movement.js";

const help = part(document, "#keys", HTMLDialogElement);

/** @param {EventTarget | null} target */
const isTyped = (target) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLSelectElement ||
  target instanceof HTMLTextAreaElement;

export function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    const isHandled = isTyped(event.target)
      ? leaveField(event)
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
  if (isLargeOpen()) part(document, "#large .card", HTMLElement).focus();
  else {
    const card = cardOf(target) ?? visibleCard();
    if (card === undefined) return false;
    focusCard(card);
  }
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
    productFilter.focus();
    productFilter.select();
    return true;
  }
  if (key === "?") {
    help.showModal();
    return true;
  }
  const card = cardOf(target);
  if (card === undefined && target !== document.body) return false;
  const next = moved(key, card);
  if (next !== undefined) {
    focusCard(next);
    return true;
  }
  return card !== undefined && onCard(key, card, target);
}

/** Where a key leads from a card; from nowhere each key leads to the current card, so that no one decides unseen. @param {string} key @param {import("./cards.js").Card | undefined} card */
function moved(key, card) {
  const isMove = /^(j|k|Home|End|Arrow(Left|Right|Up|Down))$/.test(key);
  if (card === undefined && (key === "n" || key === "Enter" || key in decisionKeys)) return visibleCard();
  if (!isMove) return undefined;
  if (key === "Home") return firstCard();
  if (key === "End") return lastCard();
  if (card === undefined) return visibleCard();
  if (key === "ArrowDown") return inNextRow(card, 1) ?? card;
  if (key === "ArrowUp") return inNextRow(card, -1) ?? card;
  return neighborOf(card, key === "j" || key === "ArrowRight" ? 1 : -1) ?? card;
}

/** @param {string} key @param {import("./cards.js").Card} card @param {EventTarget | null} target */
function onCard(key, card, target) {
  if (key === "Enter" && target === card.card) {
    openLarge(card);
    return true;
  }
  if (key === "n") {
    const note = card.card.querySelector(".note input");
    if (note instanceof HTMLElement) note.focus();
    return note !== null;
  }
  const decision = decisionKeys[key];
  if (decision === undefined) return false;
  if (decide(card, decision) === null) return true;
  // A decision leads to the next image; clearing one stays, and so does the last one.
  const next = decision === "" ? undefined : neighborOf(card, 1);
  if (next !== undefined) focusCard(next);
  else if (decision !== "") announce("That was the last image.");
  return true;
}
