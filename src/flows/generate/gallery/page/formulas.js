// Cells that a spreadsheet may run. The page has no modules of the program: a test compares this with outputs/formulas.ts.
// All scripts of the page are one: a name is used once.

const formulaStart = /^(?:[\t\r\n]|[\s\u180e\u200b-\u200d\u2060\ufeff]*([^\s]))/u;
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** @param {string} text */
function isGuardable(text) {
  const bare = text.replace(/^'+/, "");
  const [all, character] = formulaStart.exec(bare) ?? [];
  if (all === undefined || plainNumber.test(bare)) return false;
  return character === undefined || "=+-@".includes(character.normalize("NFKC"));
}

/** @param {string} text */
const isGuardablePart = (text) => isGuardable(text) || isGuardable(text.replace(/^['"\s]*"/, ""));

/** The text of a cell, of which a spreadsheet runs no part as a formula. @param {string} text */
export function guardedCell(text) {
  const guarded = text.replace(/(?<=[;\t\r\n])[^;\t\r\n]+/g, (part) =>
    isGuardablePart(part) ? `'${part}` : part,
  );
  return isGuardable(text) ? `'${guarded}` : guarded;
}
