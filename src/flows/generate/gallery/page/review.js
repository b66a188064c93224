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
export function cloneTemplate(id) {
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
/** The opinion of a person on an image: only a rejection has reasons, and `at` is when they decided, in Unix milliseconds. @typedef {{ decision: Decision, note: string, reasons?: readonly string[], at?: number }} Review */

/** @type {GalleryData} */
export const data = JSON.parse(part(document, "#data", HTMLScriptElement).text);

const storageKey = `catalogue.review.${data.run}`;
const savedKey = `${storageKey}.saved`;

/** @type {Map<string, Review>} */
let reviews = new Map();
/** The number of the last file that was saved, 0 before the first, and whether decisions have changed since. */
let saved = { files: 0, isChanged: false };
let isKept = true;

/** @param {unknown} value @returns {value is Review} */
const isReview = (value) =>
  typeof value === "object" &&
  value !== null &&
  "decision" in value &&
  (value.decision === "approve" || value.decision === "reject" || value.decision === "") &&
  "note" in value &&
  typeof value.note === "string" &&
  (!("reasons" in value) || Array.isArray(value.reasons));

/** Reads the decisions again, for example after another window has changed them. */
export function loadReviews() {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    reviews = new Map(Object.entries(kept).filter(([, one]) => isReview(one)));
    const { files, isChanged } = JSON.parse(localStorage.getItem(savedKey) ?? "{}");
    saved = { files: Number.isSafeInteger(files) ? files : 0, isChanged: isChanged ?? reviews.size > 0 };
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

function keep() {
  try {
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(reviews)));
    localStorage.setItem(savedKey, JSON.stringify(saved));
  } catch {
    isKept = false;
  }
}

/** Whether this browser keeps decisions when the page is closed. */
export const areKept = () => isKept;

/** Whether decisions have changed since they were saved as a file. */
export const isUnsaved = () => saved.isChanged;

/** @param {StorageEvent} event */
export const isOfReviews = ({ key }) => key === storageKey || key === savedKey;

/** Only an image can be approved or rejected. @param {Result} result */
export const isReviewable = (result) => result.status === "succeeded" && result.taskId !== null;

/** @param {Result} result @returns {Review} */
export const findReview = (result) =>
  (result.taskId !== null && reviews.get(result.taskId)) || { decision: "", note: "" };

/** The note of a review as it is shown and saved: its reasons, then what a person wrote. @param {Result} result */
export function findNote(result) {
  const { reasons = [], note } = findReview(result);
  return [...reasons, ...(note === "" ? [] : [note])].join(", ");
}

/** Changes the reviews of some results at once. @param {readonly { result: Result, change: Partial<Review> }[]} changes */
export function setReviews(changes) {
  for (const { result, change } of changes) {
    if (!isReviewable(result) || result.taskId === null) continue;
    const review = { ...findReview(result), ...change, at: Date.now() };
    if (review.decision === "" && review.note === "") reviews.delete(result.taskId);
    else reviews.set(result.taskId, review);
    saved.isChanged = true;
  }
  keep();
}

/** The file that decisions are saved in: each that has other decisions gets the next number. */
export function nextFile() {
  const files = Math.max(saved.files + (saved.isChanged ? 1 : 0), 1);
  const name = files === 1 ? data.decisionsFile : data.decisionsFile.replace(/(?=\.csv$)/, `-${files}`);
  return { name, files };
}

/** Notes that a file has the decisions. @param {number} files */
export function setSaved(files) {
  saved = { files, isChanged: false };
  keep();
}

/** How many images are approved, rejected and to be reviewed in all. */
export function counts() {
  const found = { approved: 0, rejected: 0, all: 0 };
  for (const result of data.results) {
    if (!isReviewable(result)) continue;
    found.all++;
    const { decision } = findReview(result);
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

/** @type {Readonly<Record<Decision, string>>} */
export const decisionNames = { approve: "approved", reject: "rejected", "": "not reviewed" };

/** @param {string} status */
export const statusName = (status) =>
  (Object.hasOwn(statusNames, status) ? statusNames[status] : undefined) ?? status;

/** @param {Result} result */
export const productName = (result) => {
  const product = data.products[result.product];
  return product?.reference ?? product?.id ?? "";
};

/** @param {Result} result @returns {string | null} */
export const sexOfProduct = ({ product }) => data.products[product]?.sex ?? null;

/** @param {string} name @param {string | null} sex */
export const withSex = (name, sex) => (sex === null ? name : `${name}, ${sex}`);

/** The model of a try-on; the kind of product of another image. @param {Result} result */
export const toSubject = ({ modelName, modelId, subtype, style }) =>
  modelName ?? modelId ?? [subtype, style].filter((one) => one !== null).join(", ");

/** The photo of the product from the side that a result shows. @param {Result} result */
export const findPhoto = ({ product, photo }) =>
  (photo === null ? undefined : data.products[product]?.photos[photo]) ?? null;

/** @param {Result} result */
export const toLabel = (result) => {
  const parts = [productName(result), toSubject(result), result.background, result.angleShot];
  return parts.filter((one) => one !== "").join(", ");
};

/** Where the review of a result is. @param {Result} result */
export const toState = (result) =>
  result.status === "succeeded" ? decisionNames[findReview(result).decision] : statusName(result.status);

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
