// The large view: one result and its source photo, as large as the window.

import { describe, fileOf, refresh, showDecision, showImage } from "./cards.js";
import { decide, decisionKeys, focusCard, neighborOf, setNote } from "./decide.js";
import { announce, data, isReviewable, labelOf, part, productName, stateOf, statusName } from "./review.js";

/** @typedef {import("./cards.js").Card} Card */
/** @typedef {import("./review.js").Decision} Decision */

const dialog = part(document, "#large", HTMLDialogElement);
const note = part(dialog, ".note input", HTMLInputElement);

/** @type {Card | undefined} */
let shown;

/** Whether the card still has to get the focus back. */
let isFocusDue = false;

export const isLargeOpen = () => dialog.open;

/** @param {Card} card */
export function openLarge(card) {
  show(card);
  if (!dialog.open) dialog.showModal();
  isFocusDue = true;
  part(dialog, ".card", HTMLElement).focus();
}

/** @param {Card} card */
function show(card) {
  const { result } = card;
  shown = card;
  part(dialog, "h2 bdi", HTMLElement).textContent = productName(result);
  describe(dialog, result);
  part(dialog, ".card", HTMLElement).setAttribute("aria-label", labelOf(result));
  const photo = data.products[result.product]?.photo ?? null;
  showImage(part(dialog, ".photo", HTMLElement), photo, `Photo of ${productName(result)}`);
  const frame = part(dialog, ".result", HTMLElement);
  if (result.status === "succeeded") showImage(frame, result.image, `Result: ${labelOf(result)}`);
  else frame.replaceChildren(statusName(result.status));
  const reason = part(dialog, ".reason", HTMLElement);
  reason.textContent = result.reason ?? "";
  reason.hidden = result.reason === null;
  const canDecide = isReviewable(result);
  part(dialog, ".decide", HTMLElement).hidden = !canDecide;
  part(dialog, ".note", HTMLElement).hidden = !canDecide;
  if (canDecide) showDecision(dialog, result);
  showFile(frame, fileOf(result));
  for (const [selector, step] of /** @type {const} */ ([
    [".before", -1],
    [".after", 1],
  ]))
    part(dialog, selector, HTMLButtonElement).disabled = neighborOf(card, step) === undefined;
}

/** Links to the saved file, and shows it instead of the thumbnail where it is still next to the page. @param {HTMLElement} frame @param {string | null} file */
function showFile(frame, file) {
  const link = part(dialog, ".file", HTMLAnchorElement);
  link.hidden = file === null;
  if (file === null) return;
  link.href = file;
  const thumbnail = frame.querySelector("img");
  // Only a page on a disk: one on a web server makes no request that was not asked for.
  if (thumbnail === null || location.protocol !== "file:") return;
  const full = new Image();
  full.alt = thumbnail.alt;
  full.addEventListener("load", () => {
    if (frame.contains(thumbnail)) thumbnail.replaceWith(full);
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
  const next = shown && neighborOf(shown, step);
  if (next === undefined)
    return announce(`${said} ${step === 1 ? "This is the last image." : "This is the first image."}`);
  show(next);
  announce(`${said} ${labelOf(next.result)}, ${stateOf(next.result)}.`);
}

/** @param {Decision} decision */
function decideLarge(decision) {
  const said = shown === undefined ? null : decide(shown, decision);
  if (said !== null && shown !== undefined) showDecision(dialog, shown.result);
  return said;
}

/** Gives whether the key does something here. @param {string} key */
export function pressInLarge(key) {
  const decision = decisionKeys[key];
  if (decision !== undefined) {
    const said = decideLarge(decision);
    // A decision leads to the next image; clearing one stays.
    if (said !== null && decision !== "") stepLarge(1, said);
  } else if (key === "Escape") closeLarge();
  else if (key === "n") note.focus();
  else if (key === "j" || key === "ArrowRight" || key === "ArrowDown") stepLarge(1);
  else if (key === "k" || key === "ArrowLeft" || key === "ArrowUp") stepLarge(-1);
  else return false;
  return true;
}

/** Shows the decisions that another window has made. */
export function refreshLarge() {
  if (!dialog.open || shown === undefined || !isReviewable(shown.result)) return;
  refresh(shown);
  showDecision(dialog, shown.result);
}

/** Has the controls of the large view work. */
export function wireLarge() {
  for (const button of dialog.querySelectorAll("button[data-decision]"))
    button.addEventListener("click", () =>
      decideLarge(/** @type {Decision} */ (button.getAttribute("data-decision"))),
    );
  part(dialog, ".before", HTMLElement).addEventListener("click", () => stepLarge(-1));
  part(dialog, ".after", HTMLElement).addEventListener("click", () => stepLarge(1));
  part(dialog, ".close", HTMLElement).addEventListener("click", closeLarge);
  note.addEventListener("input", () => shown && setNote(shown, note.value));
  dialog.addEventListener("close", focusShown);
}
