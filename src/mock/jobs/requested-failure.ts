/**
 * The request for a failure in a name (interface, serve --mock). A code is lower-case words joined by
 * underscores.
 */
const requested = /fail-([a-z]+(?:_[a-z]+)*)/;

/** The code of a `fail-CODE` anywhere in a text, or null. */
export const requestedFailureIn = (text: string): string | null => requested.exec(text)?.[1] ?? null;

/** The code of a `fail-CODE` at the start of a text, or null. */
export const requestedFailureAtStart = (text: string): string | null => {
  const found = requested.exec(text);
  return found?.index === 0 ? found[1]! : null;
};
