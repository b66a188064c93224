// Gestures. Swiping on touch screens: a picture to the right approves it, to the left rejects it. Zoom of the large view:
// a saved image at one image pixel per screen pixel, with the clicked point under the pointer.

import { announce, part } from "./review.js";

/** So far in CSS pixels is a swipe meant. */
const leastSwipe = 70;

/**
 * Has a finger decide about the pictures that match a selector; up and down it scrolls.
 * @param {HTMLElement} area
 * @param {string} selector
 * @param {(picture: HTMLElement, decision: "approve" | "reject") => void} onSwipe
 */
export function wireSwipes(area, selector, onSwipe) {
  /** @type {{ id: number, x: number, picture: HTMLElement } | undefined} */
  let swipe;
  /** @param {PointerEvent} event */
  const distance = ({ clientX }) => clientX - (swipe?.x ?? clientX);
  const end = () => {
    if (swipe === undefined) return;
    swipe.picture.style.translate = "";
    delete swipe.picture.dataset.swipe;
    swipe = undefined;
  };
  area.addEventListener("pointerdown", (event) => {
    end();
    const picture = event.target instanceof Element ? event.target.closest(selector) : null;
    if (event.pointerType !== "touch" || !event.isPrimary || !(picture instanceof HTMLElement)) return;
    swipe = { id: event.pointerId, x: event.clientX, picture };
  });
  area.addEventListener("pointermove", (event) => {
    if (swipe?.id !== event.pointerId) return;
    const moved = distance(event);
    swipe.picture.style.translate = `${moved}px`;
    swipe.picture.dataset.swipe = Math.abs(moved) < leastSwipe ? "" : moved > 0 ? "approve" : "reject";
  });
  area.addEventListener("pointerup", (event) => {
    if (swipe?.id !== event.pointerId) return;
    const { picture } = swipe;
    const moved = distance(event);
    end();
    if (Math.abs(moved) >= leastSwipe) onSwipe(picture, moved > 0 ? "approve" : "reject");
  });
  // The browser takes the finger over for scrolling.
  area.addEventListener("pointercancel", end);
}

const frame = part(document, "#large .result", HTMLElement);
const button = part(document, "#large .zoom", HTMLButtonElement);

const imageIn = () => frame.querySelector("img");
const isZoomed = () => frame.classList.contains("zoomed");

/** The width of an image at 1:1, and its scale where it fits the frame. @param {HTMLImageElement} image */
function readSizes(image) {
  const { naturalWidth, naturalHeight } = image;
  const width = naturalWidth / devicePixelRatio;
  const fitted = Math.min(frame.clientWidth / naturalWidth, frame.clientHeight / naturalHeight);
  return { width, height: naturalHeight / devicePixelRatio, fitted: fitted * naturalWidth };
}

/** Shows all of the image again, and offers the zoom where it has more pixels than are shown. */
export function fitImage() {
  frame.classList.remove("zoomed");
  const image = imageIn();
  if (image !== null) image.removeAttribute("style");
  const isLarger =
    image !== null && image.naturalWidth > 0 && readSizes(image).width > readSizes(image).fitted;
  frame.classList.toggle("zoomable", isLarger);
  button.disabled = !isLarger;
  button.setAttribute("aria-pressed", "false");
}

/** Zooms in on a point of the frame, its middle if none is given, or out again. @param {{ clientX: number, clientY: number }} [at] */
export function toggleZoom(at) {
  const image = imageIn();
  if (isZoomed()) return fitImage();
  if (image === null || button.disabled) return announce("The image is shown with all of its pixels.");
  const { left, top, width: frameWidth, height: frameHeight } = frame.getBoundingClientRect();
  const x = at === undefined ? frameWidth / 2 : at.clientX - left;
  const y = at === undefined ? frameHeight / 2 : at.clientY - top;
  const { width, height, fitted } = readSizes(image);
  const scale = width / fitted;
  frame.classList.add("zoomed");
  image.style.width = `${width}px`;
  image.style.height = `${height}px`;
  frame.scrollLeft = width / 2 + (x - frameWidth / 2) * scale - x;
  frame.scrollTop = height / 2 + (y - frameHeight / 2) * scale - y;
  button.setAttribute("aria-pressed", "true");
  announce("Zoomed in.");
}

/** Has a click zoom, and a mouse drag what is zoomed; a finger scrolls it. */
export function wireZoom() {
  let isDragged = false;
  frame.addEventListener("pointerdown", () => {
    isDragged = false;
  });
  frame.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse" || event.buttons !== 1 || !isZoomed()) return;
    isDragged ||= Math.abs(event.movementX) + Math.abs(event.movementY) > 2;
    frame.scrollBy(-event.movementX, -event.movementY);
  });
  // An image is not dragged out of the page.
  frame.addEventListener("dragstart", (event) => event.preventDefault());
  frame.addEventListener("click", (event) => {
    if (!isDragged && !button.disabled) toggleZoom(event);
  });
  button.addEventListener("click", () => toggleZoom());
  addEventListener("resize", fitImage);
}
