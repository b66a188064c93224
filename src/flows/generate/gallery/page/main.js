// The start of the page, and its buttons.

import { addCards, cardOf, cards, refresh, showProgress } from "./cards.js";
import { decisionsCsv } from "./csv.js";
import { decide, setNote, warnIfLost } from "./decide.js";
import { announce, part } from "./elements.js";
import { addFilters, applyFilters } from "./filters.js";
import { wireKeys } from "./keys.js";
import { openLarge, refreshLarge, wireLarge } from "./large-view.js";
import { focusCard, makeCurrent } from "./movement.js";
import { counts, data, isOfReviews, loadReviews } from "./review.js";

/** @typedef {import("./review.js").Decision} Decision */

function start() {
  document.title = `Review of ${data.title}`;
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
  part(document, "#save", HTMLElement).addEventListener("click", save);
  addEventListener("storage", (event) => {
    if (isOfReviews(event)) showAgain();
  });
  part(document, "#loading", HTMLElement).remove();
}

/** One listener for all cards: there may be thousands. */
function wireCards() {
  const products = part(document, "#products", HTMLElement);
  products.addEventListener("focusin", ({ target }) => {
    const card = cardOf(target);
    if (card !== undefined) makeCurrent(card);
  });
  products.addEventListener("click", ({ target }) => {
    const card = cardOf(target);
    if (card === undefined || !(target instanceof Element)) return;
    const decision = target.closest("button[data-decision]")?.getAttribute("data-decision");
    if (decision !== null && decision !== undefined) decide(card, /** @type {Decision} */ (decision));
    else if (target.closest(".frame") !== null) openLarge(card);
    else if (target.closest("button, input, a, label") === null && getSelection()?.isCollapsed !== false)
      focusCard(card);
  });
  products.addEventListener("input", ({ target }) => {
    const card = cardOf(target);
    if (card !== undefined && target instanceof HTMLInputElement) setNote(card, target.value);
  });
}

/** Shows decisions that another window of the same page has made. */
function showAgain() {
  loadReviews();
  for (const card of cards) refresh(card);
  refreshLarge();
  showProgress();
}

/** Saves the decisions as a file. */
function save() {
  const url = URL.createObjectURL(new Blob([decisionsCsv()], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = data.decisionsFile;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  const { rejected } = counts();
  const sentence = `Saved the decisions as ${data.decisionsFile}.`;
  const saved = part(document, "#saved", HTMLElement);
  saved.hidden = false;
  part(saved, "span", HTMLElement).textContent =
    rejected === 0 ? sentence : `${sentence} To generate the rejected images again, run:`;
  const command = part(saved, "code", HTMLElement);
  command.textContent = data.rerunCommand;
  command.hidden = rejected === 0;
  announce(sentence);
}

start();
