// Cards: one for each result, grouped by product and side.

import { showImage, whenNear } from "./images.js";
import {
  cloneTemplate,
  counted,
  counts,
  data,
  decisionNames,
  findNote,
  findReview,
  isReviewable,
  isUnsaved,
  part,
  productName,
  sexOfProduct,
  statusName,
  toLabel,
  toState,
  toSubject,
  withSex,
} from "./review.js";

/** @typedef {import("./review.js").Result} Result */
/** @typedef {{ result: Result, item: HTMLElement, card: HTMLElement }} Card */
/** The cards of one product that show the same side, and the photo of that side, which is beside the first that is shown. @typedef {{ aside: HTMLElement, cards: Card[] }} Side */

/** @type {Card[]} */
export const cards = [];

/** @type {{ section: HTMLElement, sides: Side[] }[]} */
export const groups = [];

/** @type {WeakMap<Element, Card>} */
const ofItem = new WeakMap();

/** The card that an element is part of. @param {EventTarget | null} target @returns {Card | undefined} */
export const findCard = (target) => {
  const item = target instanceof Element ? target.closest(".item") : null;
  return item === null ? undefined : ofItem.get(item);
};

/** Adds the cards of all products to the page. */
export function addCards() {
  const page = document.createDocumentFragment();
  for (const [index, results] of grouped(data.results, ({ product }) => product)) {
    const section = cloneTemplate("product");
    const heading = part(section, "h2", HTMLElement);
    heading.id = `product-${index}`;
    section.setAttribute("aria-labelledby", heading.id);
    const { reference, id, name, photos } = data.products[index] ?? missingProduct;
    part(heading, "bdi", HTMLElement).textContent = reference ?? id;
    const list = part(section, "ul", HTMLElement);
    const sides = [...grouped(results, ({ photo }) => photo)].map(([photo, own]) => {
      const shown = photo === null ? undefined : photos[photo];
      const aside = asideWith(
        reference ?? id,
        shown === undefined ? "No photo" : `Photo: ${shown.orientation}`,
        name ?? "",
      );
      if (shown !== undefined)
        whenNear(aside, () =>
          showImage(part(aside, ".frame", HTMLElement), shown.image, `Photo of ${reference ?? id}`),
        );
      return { aside, cards: own.map(cardFor) };
    });
    for (const side of sides) list.append(...side.cards.map(({ item }) => item));
    groups.push({ section, sides });
    // The order on the page is the order of the keys.
    cards.push(...sides.flatMap((side) => side.cards));
    page.append(section);
  }
  part(document, "#products", HTMLElement).append(page);
}

const missingProduct = { reference: null, id: "", name: null, photos: [] };

/** @template K @param {readonly Result[]} results @param {(result: Result) => K} toKey @returns {Map<K, Result[]>} */
function grouped(results, toKey) {
  /** @type {Map<K, Result[]>} */
  const found = new Map();
  for (const result of results) {
    const key = toKey(result);
    const own = found.get(key);
    if (own === undefined) found.set(key, [result]);
    else own.push(result);
  }
  return found;
}

/** A small picture beside a card. @param {string} title @param {string} label @param {string} text */
function asideWith(title, label, text) {
  const aside = cloneTemplate("aside");
  part(aside, ".title", HTMLElement).textContent = title;
  part(aside, ".label", HTMLElement).textContent = label;
  part(aside, ".text", HTMLElement).textContent = text;
  return aside;
}

/** Puts the photo of each side beside the first of its cards that is shown. @param {Side} side */
export function placePhoto({ aside, cards: own }) {
  const item = own.find((card) => !card.item.hidden)?.item;
  if (item === undefined || aside.parentElement === item) return;
  item.prepend(aside);
}

/** @param {Result} result @returns {Card} */
function cardFor(result) {
  const item = cloneTemplate("card");
  const card = { result, item, card: part(item, ".card", HTMLElement) };
  const frame = part(item, ".frame", HTMLElement);
  ofItem.set(item, card);
  part(item, ".product", HTMLElement).textContent = withSex(productName(result), sexOfProduct(result));
  describe(item, result);
  item.dataset.status = result.status;
  if (result.status === "succeeded")
    whenNear(card.card, () => showImage(frame, result.image, `Result: ${toLabel(result)}`));
  else
    frame.append(createText("status", statusName(result.status)), createText("reason", result.reason ?? ""));
  if (!isReviewable(result)) for (const one of item.querySelectorAll(".decide, .badge")) one.remove();
  const { earlier } = result;
  if (earlier !== undefined) {
    const aside = asideWith("Before", decisionNames[earlier.decision] ?? "", earlier.note);
    aside.classList.add("earlier");
    whenNear(aside, () =>
      showImage(part(aside, ".frame", HTMLElement), earlier.image, `Before: ${toLabel(result)}`),
    );
    item.prepend(aside);
  }
  refresh(card);
  return card;
}

/** @param {string} name of its class @param {string} content */
function createText(name, content) {
  const text = document.createElement("p");
  text.className = name;
  text.textContent = content;
  return text;
}

/** Names a result: its model, background and angle. Marks a model of the other sex than the product. @param {HTMLElement} element @param {Result} result */
export function describe(element, result) {
  const { modelSex = null } = result;
  part(element, ".subject", HTMLElement).textContent = withSex(toSubject(result), modelSex);
  const sexes = [sexOfProduct(result), modelSex];
  element.dataset.sexes = sexes.includes("female") && sexes.includes("male") ? "differ" : "";
  part(element, ".background", HTMLElement).textContent = result.background;
  part(element, ".angle", HTMLElement).textContent = result.angleShot;
}

/** Shows the decision about a result. @param {Card} card */
export function refresh({ result, item, card }) {
  card.setAttribute("aria-label", `${toLabel(result)}, ${toState(result)}`);
  if (!isReviewable(result)) return;
  showDecision(item, result);
  part(item, ".badge", HTMLElement).textContent = findNote(result);
}

/** Shows a decision on a card or in the large view. @param {HTMLElement} element @param {Result} result */
export function showDecision(element, result) {
  const { decision } = findReview(result);
  element.dataset.decision = decision;
  for (const button of element.querySelectorAll("button[data-decision]"))
    button.setAttribute("aria-pressed", String(button.getAttribute("data-decision") === decision));
}

/** Shows how far the review is, and whether it is saved. */
export function showProgress() {
  const { approved, rejected, all } = counts();
  const done = approved + rejected;
  part(document, "#reviewed", HTMLElement).textContent = `${done} of ${all} reviewed`;
  part(document, "#tally", HTMLElement).textContent =
    `${approved} ${decisionNames.approve}, ${rejected} ${decisionNames.reject}`;
  const bar = part(document, "#bar", HTMLProgressElement);
  bar.max = Math.max(all, 1);
  bar.value = done;
  part(document, "#unsaved", HTMLElement).hidden = !isUnsaved();
  // The commands are for the file that was saved last.
  if (isUnsaved()) part(document, "#saved", HTMLElement).hidden = true;
  document.title = `${isUnsaved() ? "● " : ""}Review of ${data.title}`;
  part(document, "#save", HTMLElement).textContent =
    isUnsaved() && done === all
      ? `${all === 1 ? "" : "All "}${counted(all, "image")} reviewed: save`
      : "Save decisions";
}

/** The width of a column decides the height of cards that are not drawn yet. */
export function measureCards() {
  const first = cards.find(({ item }) => !item.hidden)?.card;
  if (first !== undefined && first.offsetHeight > 0)
    document.documentElement.style.setProperty("--card-height", `${first.offsetHeight}px`);
}
