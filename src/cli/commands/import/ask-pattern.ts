import type { PhotoListing, SortedPhotos } from "../../../flows/photos/folder-photos.ts";
import { guessPatterns } from "../../../flows/photos/guess-pattern.ts";
import { NamePattern } from "../../../flows/photos/name-pattern.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, firstOf, grouped, truncated } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { canAsk, openPrompts } from "../../app/prompts.ts";
import { shellWord } from "../../output/command-words.ts";

/** The maximum number of characters of a reference that is shown. */
const shownLength = 30;

/**
 * Asks how references and sides are read from the names of photos. Throws InputError where nothing can be asked: which photo
 * belongs to which product is never guessed.
 */
export async function askPattern(app: App, listing: PhotoListing, folder: string): Promise<NamePattern> {
  const guesses = guessPatterns(listing);
  const flag = (pattern: NamePattern) => `--pattern ${shellWord(pattern.text)}`;
  if (!canAsk(app)) {
    const [first] = guesses;
    const example =
      first === undefined
        ? "--pattern '{reference}_{side}'"
        : `${flag(first.pattern)} (${resultOf(first.photos)})`;
    throw new InputError(
      `${folder} has no sheet: the names of its photos do not show which part is the reference`,
      "which_pattern",
      `Add the pattern of the names, for example ${example}.`,
    );
  }
  const prompts = await openPrompts(app);
  const answer = await prompts.select<NamePattern | null>(
    `How are the ${counted(listing.paths.length, "photo")} in ${folder} named, such as ${listing.paths[0]}?`,
    [
      ...guesses.map(({ pattern, photos }) => ({
        name: app.io.visible(`${pattern.text}: ${exampleOf(photos)}; ${resultOf(photos)}`),
        value: pattern,
      })),
      { name: "another pattern", value: null },
    ],
    guesses[0]?.pattern ?? null,
  );
  const pattern = answer ?? new NamePattern(await askText(app));
  await app.io.note(app.io.visible(`To skip this question, add ${flag(pattern)}.`));
  return pattern;
}

async function askText(app: App): Promise<string> {
  const check = (text: string) => {
    try {
      new NamePattern(text);
      return true;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const prompts = await openPrompts(app);
  return prompts.input("Pattern of {reference}, {side}, {n} and *:", undefined, check);
}

/** The first product with a side or several photos: `DRESS-1 has front and back`. */
function exampleOf({ products }: SortedPhotos): string {
  const all = [...products];
  const [reference, photos] = all.find(([, several]) => several.length > 1) ?? all[0]!;
  const parts = photos.map(({ side, number }) =>
    [side, number].filter((part) => part !== undefined).join(" "),
  );
  const known = parts.filter((part) => part !== "");
  const what = known.length === 0 ? counted(photos.length, "photo") : firstOf(known, 3);
  return `${truncated(reference, shownLength)} has ${what}`;
}

function resultOf({ products, left }: SortedPhotos): string {
  const all = [...products.values()].reduce((sum, photos) => sum + photos.length, 0);
  const part = left.length === 0 ? "" : `${grouped(all)} of `;
  return `${counted(products.size, "product")}, ${part}${counted(all + left.length, "photo")}`;
}
