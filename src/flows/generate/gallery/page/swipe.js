// Swiping on touch screens: a picture to the right approves it, to the left rejects it.

/** So far in CSS pixels is a swipe meant. */
const least = 70;

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
    swipe.picture.dataset.swipe = Math.abs(moved) < least ? "" : moved > 0 ? "approve" : "reject";
  });
  area.addEventListener("pointerup", (event) => {
    if (swipe?.id !== event.pointerId) return;
    const { picture } = swipe;
    const moved = distance(event);
    end();
    if (Math.abs(moved) >= least) onSwipe(picture, moved > 0 ? "approve" : "reject");
  });
  // The browser takes the finger over for scrolling.
  area.addEventListener("pointercancel", end);
}
