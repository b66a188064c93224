// The review: results, their names, the person's decisions about them, and where the browser and a file keep those.

/**
 * The one element of a kind, which the page always has.
 * @template {Element} T
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
export function part(parent, selector, type) {
  const found = parent.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** @param {string} id @returns {HTMLElement} */
export function cloneOf(id) {
  const content = part(document, `#${id}`, HTMLTemplateElement).content.cloneNode(true);
  const [first] = /** @type {DocumentFragment} */ (content).children;
  return /** @type {HTMLElement} */ (first);
}

/** Has a screen reader say something: an open dialog silences what is outside of it. @param {string} sentence */
export function announce(sentence) {
  const live = document.querySelector("dialog[open] .spoken") ?? part(document, "#live", HTMLElement);
  live.textContent = sentence;
}

/** @typedef {import("../describe-run.ts").GalleryData} GalleryData */
/** @typedef {GalleryData["results"][number]} Result */
/** @typedef {"approve" | "reject" | ""} Decision */
/** @typedef {{ decision: Decision, note: string }} Review */

/** @type {GalleryData} */
export const data = JSON.parse(part(document, "#data", HTMLScriptElement).text);

const storageKey = `catalogue.review.${data.run}`;

/** @type {Map<string, Review>} */
let reviews = new Map();
let isKept = true;

/** @param {unknown} value @returns {value is Review} */
const isReview = (value) =>
  typeof value === "object" &&
  value !== null &&
  "decision" in value &&
  (value.decision === "approve" || value.decision === "reject" || value.decision === "") &&
  "note" in value &&
  typeof value.note === "string";

/** Reads the decisions again, for example after another window has changed them. */
export function loadReviews() {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    reviews = new Map(Object.entries(kept).filter(([, one]) => isReview(one)));
  } catch {
    // The browser forbids storage, or another program has written the value.
    isKept = canStore();
  }
}

function canStore() {
  try {
    localStorage.setItem(`${storageKey}.test`, "");
    localStorage.removeItem(`${storageKey}.test`);
    return true;
  } catch {
    return false;
  }
}

/** Whether this browser keeps decisions when the page is closed. */
export const areKept = () => isKept;

/** @param {StorageEvent} event */
export const isOfReviews = (event) => event.key === storageKey;

/** Only an image can be approved or rejected. @param {Result} result */
export const isReviewable = (result) => result.status === "succeeded" && result.taskId !== null;

/** @param {Result} result @returns {Review} */
export const reviewOf = (result) =>
  (result.taskId !== null && reviews.get(result.taskId)) || { decision: "", note: "" };

/** @param {Result} result @param {Partial<Review>} change */
export function setReview(result, change) {
  if (!isReviewable(result) || result.taskId === null) return;
  const review = { ...reviewOf(result), ...change };
  if (review.decision === "" && review.note === "") reviews.delete(result.taskId);
  else reviews.set(result.taskId, review);
  try {
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(reviews)));
  } catch {
    isKept = false;
  }
}

/** How many images are approved, rejected and to be reviewed in all. */
export function counts() {
  const found = { approved: 0, rejected: 0, all: 0 };
  for (const result of data.results) {
    if (!isReviewable(result)) continue;
    found.all++;
    const { decision } = reviewOf(result);
    if (decision === "approve") found.approved++;
    if (decision === "reject") found.rejected++;
  }
  return found;
}

/** @type {Readonly<Record<string, string>>} */
export const statusNames = {
  succeeded: "Succeeded",
  failed: "Failed",
  rejected: "Not accepted",
  not_queued: "Not queued",
  queued: "Queued",
  running: "Running",
  unknown: "Unconfirmed",
};

/** @type {Readonly<Record<string, string>>} */
export const decisionNames = { approve: "approved", reject: "rejected", "": "not reviewed" };

/** @param {string} status */
export const statusName = (status) =>
  (Object.hasOwn(statusNames, status) ? statusNames[status] : undefined) ?? status;

/** @param {Result} result */
export const productName = (result) => {
  const product = data.products[result.product];
  return product?.reference ?? product?.id ?? "";
};

/** The model of a try-on; the kind of product of another image. @param {Result} result */
export const subjectOf = ({ modelName, modelId, subtype, style }) =>
  modelName ?? modelId ?? [subtype, style].filter((one) => one !== null).join(", ");

/** @param {Result} result */
export const labelOf = (result) => {
  const parts = [productName(result), subjectOf(result), result.background, result.angleShot];
  return parts.filter((one) => one !== "").join(", ");
};

/** Where the review of a result is. @param {Result} result */
export const stateOf = (result) =>
  result.status === "succeeded" ? decisionNames[reviewOf(result).decision] : statusName(result.status);

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Cells are quoted where CSV needs it. Formulas stay as they are: the file is read again. @param {string} text */
const cell = (text) =>
  text.includes(data.csv.delimiter) || /["\r\n]|^\s|\s$/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;

/** @param {Result} result @returns {Record<string, string>} */
function rowOf(result) {
  const product = data.products[result.product];
  const { decision, note } = isReviewable(result) ? reviewOf(result) : { decision: "", note: "" };
  return {
    line: String(result.line),
    task_id: result.taskId ?? "",
    status: result.status,
    product_id: product?.id ?? "",
    product_reference: product?.reference ?? "",
    model_id: result.modelId ?? "",
    background: result.background,
    angle_shot: result.angleShot,
    decision,
    note,
  };
}

/** One row per result, in the order of the input. */
export function decisionsCsv() {
  const rows = data.results.map((result) => {
    const row = rowOf(result);
    return data.columns.map((column) => cell(row[column] ?? ""));
  });
  const { delimiter, lineEnd, marked } = data.csv;
  const lines = [data.columns, ...rows].map((cells) => `${cells.join(delimiter)}${lineEnd}`);
  return `${marked ? "\ufeff" : ""}${lines.join("")}`;
}
