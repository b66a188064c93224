// The start of the page: filters, keys and buttons.

import { addCards, cardOf, cards, groups, refresh, showProgress } from "./cards.js";
import {
  currentCard,
  decide,
  decisionKeys,
  firstCard,
  focusCard,
  inNextRow,
  lastCard,
  makeCurrent,
  neighborOf,
  setNote,
  warnIfLost,
} from "./decide.js";
import { isLargeOpen, openLarge, pressInLarge, refreshLarge, wireLarge } from "./large-view.js";
import {
  announce,
  counted,
  counts,
  data,
  decisionsCsv,
  isOfReviews,
  isReviewable,
  loadReviews,
  part,
  productName,
  reviewOf,
  statusName,
  statusNames,
} from "./review.js";

/** @typedef {import("./review.js").Result} Result */

const form = part(document, "#filters", HTMLFormElement);
const productFilter = part(form, "#by-product", HTMLInputElement);
const modelFilter = part(form, "#by-model", HTMLSelectElement);
const statusFilter = part(form, "#by-status", HTMLSelectElement);
const decisionFilter = part(form, "#by-decision", HTMLSelectElement);

/** @param {HTMLSelectElement} select @param {string} value @param {string} text */
function addOption(select, value, text) {
  const option = document.createElement("option");
  option.value = value;
  option.textContent = text;
  select.append(option);
}

/** Offers the models and states that the results have. */
function addFilters() {
  const models = new Map(
    data.results.flatMap(({ modelId, modelName }) =>
      modelId === null ? [] : [[modelId, modelName ?? modelId]],
    ),
  );
  const inOrder = [...models].sort(([, one], [, other]) => one.localeCompare(other));
  for (const [id, name] of inOrder) addOption(modelFilter, id, name);
  part(form, "#model-field", HTMLElement).hidden = models.size === 0;
  const statuses = new Set(data.results.map(({ status }) => status));
  for (const status of Object.keys(statusNames))
    if (statuses.has(status)) addOption(statusFilter, status, statusName(status));
  form.addEventListener("input", () => applyFilters(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => applyFilters(true)));
  part(document, "#show-all", HTMLElement).addEventListener("click", () => {
    form.reset();
    productFilter.focus();
  });
}

/** @param {Result} result @param {string} wanted */
function isOfProduct(result, wanted) {
  const { id = "", name } = data.products[result.product] ?? {};
  return [productName(result), id, name ?? ""].some((text) => text.toLowerCase().includes(wanted));
}

/** @param {Result} result */
function hasDecision(result) {
  const wanted = decisionFilter.value;
  if (wanted === "") return true;
  const { decision } = reviewOf(result);
  return isReviewable(result) && (wanted === "none" ? decision === "" : decision === wanted);
}

/** Shows the cards that match, and says how many. @param {boolean} isAnnounced */
function applyFilters(isAnnounced) {
  const wanted = productFilter.value.trim().toLowerCase();
  let shown = 0;
  for (const { section, cards: own } of groups) {
    let hasShown = false;
    for (const { result, item } of own) {
      const isShown =
        (modelFilter.value === "" || result.modelId === modelFilter.value) &&
        (statusFilter.value === "" || result.status === statusFilter.value) &&
        hasDecision(result) &&
        (wanted === "" || isOfProduct(result, wanted));
      if (item.hidden === isShown) item.hidden = !isShown;
      if (isShown) shown++;
      hasShown ||= isShown;
    }
    if (section.hidden === hasShown) section.hidden = !hasShown;
  }
  part(document, "#empty", HTMLElement).hidden = shown > 0;
  const sentence = `${shown === cards.length ? counted(shown, "image") : `${shown} of ${counted(cards.length, "image")}`} shown`;
  part(document, "#shown", HTMLElement).textContent = sentence;
  if (isAnnounced) announce(`${sentence}.`);
}

const help = part(document, "#keys", HTMLDialogElement);

/** @param {EventTarget | null} target */
const isTyped = (target) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLSelectElement ||
  target instanceof HTMLTextAreaElement;

function wireKeys() {
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
