// The large view: one result beside the photo of the same side, as large as the window.

import { cards, describe, refresh, showDecision } from "./cards.js";
import {
  decide,
  decisionKeys,
  findNeighbor,
  focusCard,
  isShown,
  notedCard,
  setJustDecided,
  undo,
} from "./decide.js";
import { fitImage, toggleZoom, wireSwipes, wireZoom } from "./gestures.js";
import { showImage } from "./images.js";
import { Notes } from "./notes.js";
import {
  announce,
  data,
  decisionNames,
  findPhoto,
  isReviewable,
  part,
  productName,
  sexOfProduct,
  statusName,
  toLabel,
  toState,
  withSex,
} from "./review.js";

/** @typedef {import("./cards.js").Card} Card */
/** @typedef {import("./review.js").Decision} Decision */

const dialog = part(document, "#large", HTMLDialogElement);

/** @type {Card | undefined} */
let shown;

const largeNotes = new Notes(() => notedCard(shown));

/** Whether the card still has to get the focus back. */
let isFocusDue = false;

export const isLargeOpen = () => dialog.open;

/** @param {Card} card */
export function openLarge(card) {
  setJustDecided(undefined);
  if (!dialog.open) dialog.showModal();
  show(card);
  isFocusDue = true;
  focusLarge();
}

export const focusLarge = () => part(dialog, ".card", HTMLElement).focus();

/** @param {Card} card */
function show(card) {
  const { result } = card;
  shown = card;
  part(dialog, "h2 bdi", HTMLElement).textContent = withSex(productName(result), sexOfProduct(result));
  describe(dialog, result);
  part(dialog, ".card", HTMLElement).setAttribute("aria-label", toLabel(result));
  const inOrder = cards.filter(isShown);
  part(dialog, ".place", HTMLElement).textContent = `${inOrder.indexOf(card) + 1} of ${inOrder.length}`;
  showAside(".photo", findPhoto(result)?.image, `Photo of ${productName(result)}`);
  const { earlier } = result;
  showAside(".earlier", earlier === undefined ? undefined : earlier.image, `Before: ${toLabel(result)}`);
  part(dialog, ".earlier-note", HTMLElement).textContent =
    earlier === undefined
      ? ""
      : ["Before", decisionNames[earlier.decision], earlier.note].filter(Boolean).join(": ");
  const frame = part(dialog, ".result", HTMLElement);
  if (result.status === "succeeded") showImage(frame, result.image, `Result: ${toLabel(result)}`);
  else frame.replaceChildren(statusName(result.status));
  const reason = part(dialog, ".reason", HTMLElement);
  reason.textContent = result.reason ?? "";
  reason.hidden = result.reason === null;
  showFile(frame, toFile(result));
  fitImage();
  for (const [selector, step] of /** @type {const} */ ([
    [".before", -1],
    [".after", 1],
  ]))
    part(dialog, selector, HTMLButtonElement).disabled = findNeighbor(card, step) === undefined;
  refreshLarge();
}

/** @param {string} selector @param {number | null | undefined} image undefined where there is none @param {string} alt */
function showAside(selector, image, alt) {
  const frame = part(dialog, `${selector}.frame`, HTMLElement);
  if (frame.parentElement !== null) frame.parentElement.hidden = image === undefined;
  if (image === undefined) frame.replaceChildren();
  else showImage(frame, image, alt);
}

/** The path of the full-size file next to the page, or in its folder of rejected ones; null where it was not saved. @param {import("./review.js").Result} result */
const toFile = (result) =>
  data.folder === null || result.file === null
    ? null
    : `${data.folder}${result.file.split("/").map(encodeURIComponent).join("/")}`;

/** Links to the saved file, and shows it instead of the thumbnail where it is still next to the page. @param {HTMLElement} frame @param {string | null} file */
function showFile(frame, file) {
  const link = part(dialog, ".file", HTMLAnchorElement);
  const moved = part(dialog, ".moved", HTMLElement);
  link.hidden = file === null;
  moved.hidden = true;
  if (file === null) return;
  link.href = file;
  const thumbnail = frame.querySelector("img");
  // Only a page on a disk: one on a web server makes no request that was not asked for.
  if (thumbnail === null || location.protocol !== "file:") return;
  const full = new Image();
  full.alt = thumbnail.alt;
  full.addEventListener("load", () => {
    if (!frame.contains(thumbnail)) return;
    thumbnail.replaceWith(full);
    fitImage();
  });
  full.addEventListener("error", () => {
    if (!frame.contains(thumbnail)) return;
    link.hidden = true;
    moved.hidden = false;
  });
  full.src = file;
}

/** Gives the focus back at once: the next key may be pressed before the browser reports the close. */
function closeLarge() {
  dialog.close();
  focusShown();
}

function focusShown() {
  // It may be open again when the browser reports the close.
  if (dialog.open) return;
  if (isFocusDue && shown !== undefined) focusCard(shown);
  isFocusDue = false;
}

/** Shows the next result, or the one before. @param {1 | -1} step @param {string} [said] */
function stepLarge(step, said = "") {
  const next = shown && findNeighbor(shown, step);
  if (next === undefined)
    return announce(`${said} ${step === 1 ? "This is the last image." : "This is the first image."}`);
  setJustDecided(said === "" ? undefined : shown);
  show(next);
  announce(`${said} ${toLabel(next.result)}, ${toState(next.result)}.`);
}

/** A decision leads to the next image; clearing one stays. @param {Decision} decision */
function decideLarge(decision) {
  const said = shown === undefined ? null : decide(shown, decision);
  if (said !== null && decision !== "") stepLarge(1, said);
  refreshLarge();
}

/** Undoes the last decision, and shows its image. */
function undoLarge() {
  const card = undo();
  if (card === undefined) return;
  setJustDecided(undefined);
  show(card);
}

/** Gives whether the key does something here. @param {string} key */
export function pressInLarge(key) {
  const decision = decisionKeys[key];
  if (decision !== undefined) decideLarge(decision);
  else if (key === "u") undoLarge();
  else if (key === "z") toggleZoom();
  else if (key === "Escape") closeLarge();
  else if (key === "n") largeNotes.focus();
  else if (key === "j" || key === "ArrowRight" || key === "ArrowDown") stepLarge(1);
  else if (key === "k" || key === "ArrowLeft" || key === "ArrowUp") stepLarge(-1);
  else return /^[1-6]$/.test(key) && largeNotes.choose(Number(key) - 1);
  refreshLarge();
  return true;
}

/** Shows the decision, the reasons and the note as they are. */
export function refreshLarge() {
  if (!dialog.open || shown === undefined) return;
  const canDecide = isReviewable(shown.result);
  part(dialog, ".decide", HTMLElement).hidden = !canDecide;
  part(dialog, ".state", HTMLElement).textContent = toState(shown.result);
  showDecision(dialog, shown.result);
  refresh(shown);
  const noted = notedCard(shown);
  largeNotes.element.hidden = noted === undefined || !isReviewable(noted.result);
  largeNotes.refresh();
  part(dialog, ".noted", HTMLElement).textContent =
    noted === undefined || noted === shown ? "" : `Just ${toState(noted.result)}: ${toLabel(noted.result)}`;
}

/** Has the controls of the large view work. */
export function wireLarge() {
  for (const button of dialog.querySelectorAll("button[data-decision]"))
    button.addEventListener("click", () => {
      const isPressed = button.getAttribute("aria-pressed") === "true";
      decideLarge(isPressed ? "" : /** @type {Decision} */ (button.getAttribute("data-decision")));
    });
  part(dialog, ".before", HTMLElement).addEventListener("click", () => stepLarge(-1));
  part(dialog, ".after", HTMLElement).addEventListener("click", () => stepLarge(1));
  part(dialog, ".close", HTMLElement).addEventListener("click", closeLarge);
  part(dialog, ".undo", HTMLElement).addEventListener("click", undoLarge);
  part(dialog, ".noted", HTMLElement).after(largeNotes.element);
  wireZoom();
  wireSwipes(dialog, ".result:not(.zoomed)", (_, decision) => decideLarge(decision));
  dialog.addEventListener("close", focusShown);
}
