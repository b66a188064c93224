/** The form for comparing words: no case, accents or separators (`Three quarter left` has hyphens). */
export const plain = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}\p{Cf}\s_.,:/()*#'’-]+/gu, "");

/** The value that a text is, but for case, spaces, hyphens and underscores; undefined if there is none. */
export function sameValue<Value extends string>(text: string, values: readonly Value[]): Value | undefined {
  // Nearly every value is one as it is.
  if (values.includes(text as Value)) return text as Value;
  if (text.length > longestWord) return undefined;
  const word = bare(text);
  return values.find((value) => bare(value) === word);
}

const bare = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_\p{Pd}\p{Cf}]+/gu, "");

/** Longer input is not a typo, and comparing it would take time. */
const longestWord = 60;

/** A prefix shared by several known words is suggestive only from this length on. */
const longEnough = 4;

/** With more candidates than this at the same distance, a suggestion does not help. */
const mostAsNear = 3;

/**
 * The words of `known` that `given` probably means; empty if unclear. In order of preference:
 *
 * 1. the word that differs only in case and separators;
 * 2. the known word that `otherWords` has for it (keys are plain words);
 * 3. the few known words that start with it;
 * 4. the nearest by typos (at most one letter in three), longest first. Its digits are those of the word:
 *    DRESS-2 is not a typo of DRESS-1.
 */
export function meantWords(
  given: string,
  words: readonly string[],
  otherWords: Readonly<Record<string, string>> = {},
): readonly string[] {
  if (given.length > longestWord) return [];
  const known = [...new Set(words)];
  const word = plain(given);
  if (word === "") return [];
  const plainKnown = known.map(plain);
  const same = plainKnown.indexOf(word);
  if (same !== -1) return [known[same]!];
  if (Object.hasOwn(otherWords, word)) return [otherWords[word]!];
  const begun = known.filter((_, index) => plainKnown[index]!.startsWith(word));
  if (begun.length === 1 || (word.length >= longEnough && begun.length <= mostAsNear && begun.length > 0))
    return begun;
  let nearest: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (const [index, candidate] of known.entries()) {
    const edits = editsBetween(word, plainKnown[index]!);
    if (edits > plainKnown[index]!.length / 3 || edits > fewest || !haveSameDigits(word, plainKnown[index]!))
      continue;
    nearest = edits < fewest ? [candidate] : [...nearest, candidate];
    fewest = edits;
  }
  return nearest.length > mostAsNear ? [] : nearest.sort((a, b) => b.length - a.length);
}

/** As `meantWords`, but never proposes the typed text: a rejected known word is no typo of itself. */
export const didYouMean = (
  typed: string,
  words: readonly string[],
  otherWords: Readonly<Record<string, string>> = {},
): readonly string[] =>
  meantWords(
    typed,
    words.filter((word) => word !== typed),
    Object.fromEntries(Object.entries(otherWords).filter(([, word]) => word !== typed)),
  );

/** Whether two words have the same digits, also with letters that look like them. */
const haveSameDigits = (a: string, b: string): boolean =>
  [(text: string) => text, (text: string) => text.replaceAll("o", "0").replace(/[il]/g, "1")].some(
    (read) => read(a).replace(/\D/g, "") === read(b).replace(/\D/g, ""),
  );

/** The question for suggestions, to be added to a sentence after `before`; "" for none. */
export const questionFor = (
  meant: readonly string[],
  before: string,
  shown: (word: string) => string = (word) => word,
): string => (meant.length === 0 ? "" : `${before}did you mean ${meant.map(shown).join(" or ")}?`);

/** The error for a name that is not in `known`, with what was probably meant, or else all of them. */
export function unknownName(
  sentence: string,
  name: string,
  known: readonly string[],
  prefix = "",
): TypeError {
  const near = questionFor(didYouMean(name, known), "; ", (meant) => prefix + meant);
  const hint = near || `; it takes ${known.join(", ")}`;
  return new TypeError(`${sentence} ${prefix}${name.slice(0, 50)}${hint}`);
}

/** Wrong, missing, extra or transposed letters (optimal string alignment distance), as in commander. */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const differs = a[row - 1] === b[column - 1] ? 0 : 1;
      let edits = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + differs);
      const isExchanged = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && isExchanged) edits = Math.min(edits, before[column - 2]! + 1);
      current.push(edits);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/** A text as a short quotation for a message. */
export const shortened = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
