/** Words compare without case, accents and what stands between their parts: `Three quarter left` is `three-quarter-left`. */
export const plain = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}\s_.,:/()-]+/gu, "");

/** What is longer was not mistyped; to compare it would take time. */
const longestWord = 60;

/** A word that several others begin with says something only when it is not much shorter. */
const longEnough = 4;

/** More that are as near say nothing. */
const mostAsNear = 3;

/**
 * What of `known` was probably meant by `given`; empty where that cannot be told. It is one: the same but for case and
 * separators, or what `otherWords` (from plain words to known ones) says, or the few that begin so. Or it is the
 * nearest by mistyped letters, at most one in three, and all that are as near: the longest first, of which the least is wrong.
 */
export function didYouMean(
  given: string,
  known: readonly string[],
  otherWords: Readonly<Record<string, string>> = {},
): readonly string[] {
  if (given.length > longestWord) return [];
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
  for (const [index, one] of known.entries()) {
    const edits = editsBetween(word, plainKnown[index]!);
    if (edits > one.length / 3 || edits > fewest) continue;
    nearest = edits < fewest ? [one] : [...nearest, one];
    fewest = edits;
  }
  return nearest.length > mostAsNear ? [] : nearest.sort((one, other) => other.length - one.length);
}

/** The question that goes with what `didYouMean` found, as it is put into a sentence after `before`; "" where that is nothing. */
export const questionFor = (
  meant: readonly string[],
  before: string,
  shown: (word: string) => string = (word) => word,
): string => (meant.length === 0 ? "" : `${before}did you mean ${meant.map(shown).join(" or ")}?`);

/**
 * How many letters are wrong, missing, too many or exchanged with the next one (the optimal string alignment distance).
 * commander has the same for its commands and does not give it out.
 */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const differs = one[row - 1] === other[column - 1] ? 0 : 1;
      let edits = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + differs);
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isExchanged) edits = Math.min(edits, before[column - 2]! + 1);
      current.push(edits);
    }
    before = previous;
    previous = current;
  }
  return previous[other.length]!;
}
