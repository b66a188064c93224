// Images: thumbnails from the data blocks of the page, set when a card comes near the window.

import { data } from "./review.js";

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
