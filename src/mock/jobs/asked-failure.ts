/** How names ask for a failure (interface, serve --mock): a code is lower-case words with single underscores between them. */
const asking = /fail-([a-z]+(?:_[a-z]+)*)/;

/** The code that `fail-CODE` anywhere in a text asks for; null where it asks for none. */
export const failureAskedIn = (text: string): string | null => asking.exec(text)?.[1] ?? null;

/** The code that a text asks for with a `fail-CODE` at its beginning. */
export const failureAskedFirst = (text: string): string | null => {
  const found = asking.exec(text);
  return found?.index === 0 ? found[1]! : null;
};
