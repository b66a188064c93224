import type { Transform } from "node:stream";

/** A record longer than this cannot be a row of any catalogue; a quote left open would otherwise swallow the file. */
export const maxRecordLength = 1024 * 1024;

/** A parser refused what it was given, after all records before it were passed on. */
export class ParseFault extends Error {
  constructor(override readonly cause: Error & { code?: string }) {
    super(cause.message);
  }
}

/** The chunks of an input that was left where a record of it is too long (`privateCopy`): to come to their end is that fault. */
export async function* cutShort(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  throw parseFault("CSV_MAX_RECORD_SIZE");
}

/** A fault as the parser of CSV tells it. */
export const parseFault = (code: string): ParseFault =>
  new ParseFault(Object.assign(new Error(code), { code }));

/**
 * Pushes chunks through a synchronous parsing stream and yields what comes out, a batch a chunk: awaiting every record
 * on its own costs more than parsing it. Throws ParseFault once the good records before the fault were yielded.
 */
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
