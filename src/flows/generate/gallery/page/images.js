// Thumbnails: in data blocks of the page, which are read when the first of their images is shown.

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

/** Shows the images of an element, once it comes near the window. @type {WeakMap<Element, () => void>} */
const pending = new WeakMap();
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      pending.get(target)?.();
    }
  },
  { rootMargin: "800px 0px" },
);

/** Shows the images of an element when it comes near the window. @param {HTMLElement} element @param {() => void} show */
export function whenNear(element, show) {
  pending.set(element, show);
  near.observe(element);
}
