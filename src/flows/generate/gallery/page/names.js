// Names of results, as people and screen readers get them.

import { data, reviewOf } from "./review.js";

/** @typedef {import("./review.js").Result} Result */

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
