// Zoom of the large view: a saved image at one image pixel per screen pixel, with the clicked point under the pointer.

import { announce, part } from "./review.js";

const frame = part(document, "#large .result", HTMLElement);
const button = part(document, "#large .zoom", HTMLButtonElement);

const imageIn = () => frame.querySelector("img");
const isZoomed = () => frame.classList.contains("zoomed");

/** The width of an image at 1:1, and its scale where it fits the frame. @param {HTMLImageElement} image */
function sizesOf(image) {
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
  const isLarger = image !== null && image.naturalWidth > 0 && sizesOf(image).width > sizesOf(image).fitted;
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
  const { width, height, fitted } = sizesOf(image);
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
