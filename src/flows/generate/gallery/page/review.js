// The review: results, the person's decisions about them, and where the browser keeps those.

import { part } from "./elements.js";

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
