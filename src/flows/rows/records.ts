import type { Transform } from "node:stream";

/** No row of a catalogue is longer. Without a limit an unclosed quote would swallow the file. */
export const maxRecordLength = 1024 * 1024;

/** The parser rejected its input, after passing on all records before the error. */
export class ParseFault extends Error {
  constructor(override readonly cause: Error & { code?: string }) {
    super(cause.message);
  }
}

/** Yields a synchronous parser's records by chunk: awaiting each is slower. Throws ParseFault after them. */
export async function* recordBatches<T>(
  chunks: AsyncIterable<Buffer>,
  parser: Transform,
): AsyncGenerator<T[]> {
  parser.on("error", () => {}); // read from `errored` below, after the records that came before it
  try {
    for await (const chunk of chunks) {
      parser.write(chunk);
      yield* drain<T>(parser);
    }
    parser.end();
    yield* drain<T>(parser);
  } finally {
    parser.destroy();
  }
}

function* drain<T>(parser: Transform): Generator<T[]> {
  const batch: T[] = [];
  for (let record = parser.read(); record !== null; record = parser.read()) batch.push(record);
  if (batch.length > 0) yield batch;
  if (parser.errored) throw new ParseFault(parser.errored);
}
