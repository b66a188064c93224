// Filters: which cards are shown, and approving all of them.

import { cards, groups, measureCards, placePhoto } from "./cards.js";
import { decideAll, firstCard, focusCard, isShown } from "./decide.js";
import { placeNotes } from "./notes.js";
import {
  announce,
  counted,
  data,
  findReview,
  isReviewable,
  part,
  productName,
  statusName,
  statusNames,
} from "./review.js";

/** @typedef {import("./review.js").Result} Result */

const form = part(document, "#filters", HTMLFormElement);
export const productFilter = part(form, "#by-product", HTMLInputElement);
const decisionFilter = part(form, "#by-decision", HTMLSelectElement);
const notReviewed = part(form, "#not-reviewed", HTMLElement);

/** Fields whose options are values of the results. @type {readonly { select: HTMLSelectElement, read: (result: Result) => string }[]} */
const fields = [
  { select: part(form, "#by-model", HTMLSelectElement), read: ({ modelId }) => modelId ?? "" },
  { select: part(form, "#by-background", HTMLSelectElement), read: ({ background }) => background },
  { select: part(form, "#by-angle", HTMLSelectElement), read: ({ angleShot }) => angleShot },
  { select: part(form, "#by-status", HTMLSelectElement), read: ({ status }) => status },
];

/** The values of a field with their names, in the order of a person. @param {string} id @param {(result: Result) => string} read */
function listOptions(id, read) {
  const values = new Map(data.results.map((result) => [read(result), result]));
  values.delete("");
  const named = [...values].map(([value, { modelName }]) => ({
    value,
    name: id === "by-status" ? statusName(value) : id === "by-model" ? (modelName ?? value) : value,
  }));
  const order = Object.keys(statusNames);
  return named.sort((one, other) =>
    id === "by-status"
      ? order.indexOf(one.value) - order.indexOf(other.value)
      : one.name.localeCompare(other.name),
  );
}

/** Offers the values that the results have; a field with one value chooses nothing. */
export function addFilters() {
  for (const { select, read } of fields) {
    const options = listOptions(select.id, read);
    for (const { value, name } of options) select.add(new Option(name, value));
    if (select.parentElement !== null) select.parentElement.hidden = options.length < 2;
  }
  form.addEventListener("input", () => applyFilters(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => applyFilters(true)));
  part(document, "#show-all", HTMLElement).addEventListener("click", () => {
    form.reset();
    // After the cards are shown: a field would take the keys as text, and on a phone it is folded away.
    setTimeout(() => {
      const card = firstCard();
      if (card !== undefined) focusCard(card);
    });
  });
  notReviewed.addEventListener("click", () => {
    decisionFilter.value = decisionFilter.value === "none" ? "" : "none";
    applyFilters(true);
  });
  const fold = part(document, "#show-filters", HTMLElement);
  fold.addEventListener("click", () => {
    const isOpen = form.classList.toggle("open");
    fold.setAttribute("aria-expanded", String(isOpen));
  });
  wireApproveShown();
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
  const { decision } = findReview(result);
  return isReviewable(result) && (wanted === "none" ? decision === "" : decision === wanted);
}

/** Shows the cards that match, and says how many. @param {boolean} isAnnounced */
export function applyFilters(isAnnounced) {
  const wanted = productFilter.value.trim().toLowerCase();
  let shown = 0;
  for (const { section, sides } of groups) {
    let hasShown = false;
    for (const side of sides) {
      for (const { result, item } of side.cards) {
        const matches =
          fields.every(({ select, read }) => select.value === "" || select.value === read(result)) &&
          hasDecision(result) &&
          (wanted === "" || isOfProduct(result, wanted));
        if (item.hidden === matches) item.hidden = !matches;
        if (matches) shown++;
        hasShown ||= matches;
      }
      placePhoto(side);
    }
    if (section.hidden === hasShown) section.hidden = !hasShown;
  }
  part(document, "#empty", HTMLElement).hidden = shown > 0;
  const isFiltered = [productFilter, decisionFilter, ...fields.map(({ select }) => select)].some(
    ({ value }) => value.trim() !== "",
  );
  part(form, "[type=reset]", HTMLElement).hidden = !isFiltered;
  notReviewed.setAttribute("aria-pressed", String(decisionFilter.value === "none"));
  const sentence = `${shown === cards.length ? counted(shown, "image") : `${shown} of ${counted(cards.length, "image")}`} shown`;
  part(document, "#shown", HTMLElement).textContent = sentence;
  measureCards();
  placeNotes();
  if (isAnnounced) announce(`${sentence}.`);
}

/** Approves what is shown and not reviewed, after a question. */
function wireApproveShown() {
  const dialog = part(document, "#approve-shown", HTMLDialogElement);
  const sentence = part(dialog, "p", HTMLElement);
  const approve = part(dialog, ".main", HTMLButtonElement);
  const undecided = () =>
    cards.filter(
      (card) => isShown(card) && isReviewable(card.result) && findReview(card.result).decision === "",
    );
  part(form, "#approve", HTMLElement).addEventListener("click", () => {
    const count = undecided().length;
    approve.hidden = count === 0;
    approve.textContent = `Approve ${counted(count, "image")}`;
    sentence.textContent =
      count === 0
        ? "All images that are shown are reviewed."
        : `${counted(count, "image")} that ${count === 1 ? "is" : "are"} shown and not reviewed will be approved. Rejected images stay rejected.`;
    dialog.showModal();
  });
  approve.addEventListener("click", () => {
    const approved = undecided();
    decideAll(approved, "approve");
    dialog.close();
    announce(`${counted(approved.length, "image")} approved. To undo it, press u.`);
  });
  part(dialog, ".close", HTMLElement).addEventListener("click", () => dialog.close());
}
