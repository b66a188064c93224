// Filters: which cards are shown.

import { cards, groups } from "./cards.js";
import { announce, part } from "./elements.js";
import { counted, productName, statusName, statusNames } from "./names.js";
import { data, isReviewable, reviewOf } from "./review.js";

/** @typedef {import("./review.js").Result} Result */

const form = part(document, "#filters", HTMLFormElement);
export const productFilter = part(form, "#by-product", HTMLInputElement);
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
export function addFilters() {
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
export function applyFilters(isAnnounced) {
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
