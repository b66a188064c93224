// Cards: one for each result, grouped by product, in the order of the input. Their thumbnails are in data blocks of the page.

import {
  cloneOf,
  counted,
  counts,
  data,
  decisionNames,
  isReviewable,
  labelOf,
  part,
  productName,
  reviewOf,
  stateOf,
  statusName,
  subjectOf,
} from "./review.js";

/** The images of a block are read together. @type {Map<number, (string | null)[]>} */
const blocks = new Map();

/** @param {number} index @returns {string | null | undefined} undefined while the page is still loading */
function imageAt(index) {
  const number = Math.floor(index / data.imagesPerBlock);
  let block = blocks.get(number);
  if (block === undefined) {
    const element = document.getElementById(`images-${number}`);
    // A block that is last in the document may not be complete yet.
    const isComplete = document.readyState !== "loading" || element?.nextElementSibling;
    if (!isComplete) return undefined;
    block = /** @type {(string | null)[]} */ (JSON.parse(element?.textContent || "[]"));
    blocks.set(number, block);
    element?.remove();
  }
  return block[index % data.imagesPerBlock] ?? null;
}

/** @type {Map<number, () => void>} */
const waiting = new Map();
let waited = 0;
document.addEventListener("DOMContentLoaded", () => {
  for (const show of waiting.values()) show();
  waiting.clear();
});

/**
 * Fills a frame with an image, or says that it is missing.
 * @param {HTMLElement} frame
 * @param {number | null} index
 * @param {string} alt
 */
export function showImage(frame, index, alt) {
  const image = index === null ? null : imageAt(index);
  if (image === undefined) {
    waiting.set(waited++, () => showImage(frame, index, alt));
    return;
  }
  if (image === null) {
    frame.replaceChildren(missing());
    return;
  }
  const element = document.createElement("img");
  element.decoding = "async";
  element.alt = alt;
  element.addEventListener("error", () => element.replaceWith(missing()));
  element.src = `data:image/webp;base64,${image}`;
  frame.replaceChildren(element);
}

function missing() {
  const text = document.createElement("span");
  text.className = "missing";
  text.textContent = "Image missing";
  return text;
}

/**
 * The path of the full-size file next to the page; null where it was not saved.
 * @param {import("./review.js").Result} result
 */
export const fileOf = (result) =>
  data.folder === null || result.file === null ? null : `${data.folder}${encodeURIComponent(result.file)}`;

/** @typedef {import("./review.js").Result} Result */
/** @typedef {{ result: Result, item: HTMLElement, card: HTMLElement }} Card */

/** @type {Card[]} */
export const cards = [];

/** @type {{ section: HTMLElement, cards: Card[] }[]} */
export const groups = [];

/** @type {WeakMap<Element, Card>} */
const ofItem = new WeakMap();

/** The card that an element is part of. @param {EventTarget | null} target @returns {Card | undefined} */
export const cardOf = (target) => {
  const item = target instanceof Element ? target.closest(".item") : null;
  return item === null ? undefined : ofItem.get(item);
};

// Cards get their images, and those of their neighbors, when they come near the window.
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      const card = ofItem.get(target);
      if (!isIntersecting || card === undefined) continue;
      near.unobserve(target);
      showImages(card);
    }
  },
  { rootMargin: "800px 0px" },
);

/** @param {Card} card */
function showImages({ result, card }) {
  const photo = data.products[result.product]?.photo ?? null;
  showImage(part(card, ".photo", HTMLElement), photo, `Photo of ${productName(result)}`);
  if (result.status === "succeeded")
    showImage(part(card, ".result", HTMLElement), result.image, `Result: ${labelOf(result)}`);
}

/** Adds the cards of all products to the page. */
export function addCards() {
  const page = document.createDocumentFragment();
  const byProduct = grouped(data.results);
  for (const [index, results] of byProduct) {
    const section = cloneOf("product");
    const heading = part(section, "h2", HTMLElement);
    heading.id = `product-${index}`;
    section.setAttribute("aria-labelledby", heading.id);
    const { reference, id, name } = data.products[index] ?? { reference: null, id: "", name: null };
    part(heading, "bdi", HTMLElement).textContent = reference ?? id;
    part(section, ".name", HTMLElement).textContent = name ?? "";
    part(section, ".count", HTMLElement).textContent = counted(results.length, "image");
    const list = part(section, "ul", HTMLElement);
    const own = results.map((result) => {
      const card = cardFor(result);
      list.append(card.item);
      return card;
    });
    groups.push({ section, cards: own });
    page.append(section);
  }
  part(document, "#products", HTMLElement).append(page);
  // The order on the page is the order of the keys.
  for (const group of groups) cards.push(...group.cards);
  for (const { item } of cards) near.observe(item);
}

/** @param {readonly Result[]} results @returns {Map<number, Result[]>} */
function grouped(results) {
  /** @type {Map<number, Result[]>} */
  const found = new Map();
  for (const result of results) {
    const own = found.get(result.product);
    if (own === undefined) found.set(result.product, [result]);
    else own.push(result);
  }
  return found;
}

/** @param {Result} result @returns {Card} */
function cardFor(result) {
  const item = cloneOf("card");
  const card = { result, item, card: part(item, ".card", HTMLElement) };
  ofItem.set(item, card);
  describe(item, result);
  const status = part(item, ".status", HTMLElement);
  status.textContent = statusName(result.status);
  item.dataset.status = result.status;
  const reason = part(item, ".reason", HTMLElement);
  if (result.reason === null) reason.remove();
  else reason.textContent = result.reason;
  if (isReviewable(result)) status.remove();
  else for (const one of item.querySelectorAll(".decide, .note, .zoom")) one.remove();
  refresh(card);
  return card;
}

/** Names a result: its model, background and angle. @param {HTMLElement} element @param {Result} result */
export function describe(element, result) {
  part(element, ".subject", HTMLElement).textContent = subjectOf(result);
  part(element, ".background", HTMLElement).textContent = result.background;
  part(element, ".angle", HTMLElement).textContent = result.angleShot;
}

/** Shows the decision about a result. @param {Card} card */
export function refresh({ result, item, card }) {
  const state = stateOf(result);
  card.setAttribute("aria-label", `${labelOf(result)}, ${state}`);
  if (!isReviewable(result)) return;
  showDecision(item, result);
}

/** Shows a decision and its note, on a card or in the large view. @param {HTMLElement} element @param {Result} result */
export function showDecision(element, result) {
  const { decision, note } = reviewOf(result);
  element.dataset.decision = decision;
  for (const button of element.querySelectorAll("button[aria-pressed]"))
    button.setAttribute("aria-pressed", String(button.getAttribute("data-decision") === decision));
  const input = part(element, ".note input", HTMLInputElement);
  if (input.value !== note) input.value = note;
}

/** Shows how far the review is. */
export function showProgress() {
  const { approved, rejected, all } = counts();
  const done = approved + rejected;
  part(document, "#reviewed", HTMLElement).textContent = `${done} of ${all} reviewed`;
  part(document, "#tally", HTMLElement).textContent =
    `${approved} ${decisionNames.approve}, ${rejected} ${decisionNames.reject}`;
  const bar = part(document, "#bar", HTMLProgressElement);
  bar.max = Math.max(all, 1);
  bar.value = done;
}
