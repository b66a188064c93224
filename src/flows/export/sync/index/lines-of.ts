/** The complete lines of a file that is read in parts; returns what follows the last one. */
export async function* linesOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string, string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  return rest;
}
