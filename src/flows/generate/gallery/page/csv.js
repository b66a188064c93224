// Decisions as CSV, in the columns that `--rerun` reads.

import { data, isReviewable, reviewOf } from "./review.js";

/** @typedef {import("./review.js").Result} Result */

/** Cells are quoted where CSV needs it. Formulas stay as they are: the file is read again. @param {string} text */
const cell = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

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
  return [data.columns, ...rows].map((cells) => `${cells.join(",")}\n`).join("");
}
