/** The longest body that is re-encoded for an explanation, in bytes: garbage must not cost much time. */
const longest = 100_000;

/**
 * Finds how a body differs from the one that was signed, trying what programs on the way usually do to it.
 * Returns the change as a phrase, or null if none of them fits.
 */
export function originalBody(
  body: Uint8Array | string,
  isSigned: (candidate: Uint8Array | string) => boolean,
): string | null {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  if (bytes.length > longest) return null;
  const text = bytes.toString("utf8");
  for (const [change, undo] of changes) {
    for (const candidate of undo(text)) if (isSigned(candidate)) return change;
  }
  return null;
}

const changes: readonly (readonly [change: string, undo: (text: string) => Iterable<string>])[] = [
  // First: trimming removes it as well.
  ["a byte order mark was added or removed", (text) => [text.replace(/^\uFEFF/, ""), `\uFEFF${text}`]],
  ["space or line ends around it were added or removed", aroundIt],
  ["its line ends were converted", (text) => [text.replace(/\r\n/g, "\n"), text.replace(/\r?\n/g, "\r\n")]],
  ["its JSON was parsed and written again", writtenAgain],
];

function* aroundIt(text: string): Generator<string> {
  const trimmed = text.trim();
  yield trimmed;
  yield `${trimmed}\n`;
  yield `${trimmed}\r\n`;
}

/** The same JSON as different programs write it. */
function* writtenAgain(text: string): Generator<string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const compact = JSON.stringify(value);
  const spaced = spacedJson(value);
  const forms = [compact, spaced, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4)];
  for (const form of forms) {
    yield form;
    yield `${form}\n`;
    yield asciiOnly(form);
    yield form.replace(/\//g, "\\/");
  }
}

/** As Python's `json.dumps` writes it: a space after each comma and colon. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${spacedJson(inner)}`)
    .join(", ")}}`;
}

const asciiOnly = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
