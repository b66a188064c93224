import { CatalogueError } from "../errors.ts";
import type { Entries } from "./api/calls.ts";
import { checkOptions, toArrayOptions } from "./check-options.ts";

/** Where a method was called. Its stack is only written out if an error needs it. */
interface Caller {
  stack?: string;
}

interface Cancellable {
  readonly signal?: AbortSignal | undefined;
}

// biome-ignore lint/complexity/noBannedTypes: Error.captureStackTrace takes any function.
type Method = Function;

function findCaller(method: Method): Caller {
  const caller: Caller = {};
  // Some runtimes other than Node lack it.
  Error.captureStackTrace?.(caller, method);
  return caller;
}

/** The result of a method whose errors have the stack of its caller, with one class for a cancelled one. */
export function traced<T>(
  name: string,
  method: Method,
  options: Cancellable | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const caller = findCaller(method);
  return run().catch((error: unknown) => {
    throw from(caller, asAborted(name, options?.signal, error));
  });
}

/** Values whose errors are those of `traced`. They end with the signal, also where no request is needed. */
export function tracedEntries<Entry>(
  name: string,
  method: Method,
  options: Cancellable | undefined,
  read: () => AsyncIterable<Entry>,
): AsyncIterable<Entry> {
  const caller = findCaller(method);
  const signal = options?.signal;
  return {
    async *[Symbol.asyncIterator]() {
      try {
        signal?.throwIfAborted();
        for await (const entry of read()) {
          yield entry;
          signal?.throwIfAborted();
        }
      } catch (error) {
        throw from(caller, asAborted(name, signal, error));
      }
    },
  };
}

/** The same with the methods of a list. */
export function entriesOf<Entry>(
  name: string,
  method: Method,
  options: Cancellable | undefined,
  read: () => AsyncIterable<Entry>,
): Entries<Entry> {
  const entries = tracedEntries(name, method, options, read);
  return {
    ...entries,
    async toArray(given) {
      checkOptions(`${name}().toArray`, given, toArrayOptions);
      const { limit = Number.POSITIVE_INFINITY } = given ?? {};
      const all: Entry[] = [];
      for await (const entry of entries) {
        all.push(entry);
        if (all.length >= limit) break;
      }
      return all;
    },
  };
}

/** The error of a method that the caller has cancelled; any other error unchanged. */
function asAborted(name: string, signal: AbortSignal | undefined, error: unknown): unknown {
  // It may have failed for another reason at the same time.
  if (signal?.aborted !== true || !Object.is(error, signal.reason)) return error;
  return new CatalogueError(`${name} was cancelled by its signal`, {
    ...{ type: "aborted", code: "aborted", cause: error },
    hint: "Its cause is the reason of the signal.",
  });
}

/** The error with the stack of the caller: its own shows only how the client works. Bugs keep theirs. */
function from({ stack = "" }: Caller, error: unknown): unknown {
  if (!(error instanceof CatalogueError)) return error;
  error.stack = [`${error.name}: ${error.message}`, ...stack.split("\n").slice(1)].join("\n");
  return error;
}
