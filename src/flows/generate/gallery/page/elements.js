/**
 * The one element of a kind, which the page always has.
 * @template {Element} T
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
export function part(parent, selector, type) {
  const found = parent.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** @param {string} id @returns {HTMLElement} */
export function cloneOf(id) {
  const content = part(document, `#${id}`, HTMLTemplateElement).content.cloneNode(true);
  const [first] = /** @type {DocumentFragment} */ (content).children;
  return /** @type {HTMLElement} */ (first);
}

/** Has a screen reader say something: an open dialog silences what is outside of it. @param {string} sentence */
export function announce(sentence) {
  const live = document.querySelector("dialog[open] .spoken") ?? part(document, "#live", HTMLElement);
  live.textContent = sentence;
}
