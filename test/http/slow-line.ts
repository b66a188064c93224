import type { MovableClock } from "../../src/clock.ts";
import { type ScriptedServer, type Step, scriptedServer } from "./scripted-server.ts";

/** The turns of the event loop after which everything that was sent has arrived. */
const quietTurns = 25;

/** A line that all transfers share equally. Its time passes only with the clock of the test. */
export interface SlowLine {
  readonly server: ScriptedServer;
  /** The numbers of transfers that shared the line, without repetitions in a row. */
  readonly shared: number[];
  /** Lets seconds pass until `work` has ended. */
  untilEnd<Result>(work: Promise<Result>): Promise<Result>;
}

interface Transfer {
  left: number;
  readonly pass: (bytes: number) => void;
  readonly end: () => void;
}

/** Transfers over one line, each until its end or until the client closes its connection. */
async function openLine(
  clock: MovableClock,
  bytesPerSecond: number,
  serve: (begin: (transfer: Transfer) => () => void) => Step,
): Promise<SlowLine> {
  const running = new Set<Transfer>();
  const begin = (transfer: Transfer) => {
    running.add(transfer);
    return () => void running.delete(transfer);
  };
  const server = await scriptedServer(serve(begin));
  const shared: number[] = [];
  return {
    server,
    shared,
    async untilEnd(work) {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      work.then(over, over);
      for (;;) {
        for (let turn = 0; turn < quietTurns; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (isOver) return work;
        if (running.size > 0 && shared.at(-1) !== running.size) shared.push(running.size);
        const share = bytesPerSecond / running.size;
        for (const transfer of [...running]) {
          const bytes = Math.min(share, transfer.left);
          transfer.left -= bytes;
          transfer.pass(bytes);
          if (transfer.left === 0) {
            running.delete(transfer);
            transfer.end();
          }
        }
        for (let turn = 0; turn < quietTurns; turn++) await new Promise((resolve) => setImmediate(resolve));
        clock.advance(1_000);
      }
    },
  };
}

/** A line to a service that accepts uploads, with these responses. */
export const slowUpload = (
  clock: MovableClock,
  bytesPerSecond: number,
  respond: Step,
  late?: { readonly seconds: number; readonly step: Step },
): Promise<SlowLine> =>
  openLine(clock, bytesPerSecond, (begin) => (response, seen) => {
    const arrivedAt = clock.now();
    const leave = begin({
      left: seen.body.length,
      pass() {
        if (late === undefined || clock.now() - arrivedAt < late.seconds * 1_000 || response.writableEnded)
          return;
        leave();
        late.step(response, seen);
      },
      end: () => respond(response, seen),
    });
    response.once("close", leave);
  });

/** A line from a server of files of `size` bytes, which resumes them. */
export const slowDownload = (clock: MovableClock, bytesPerSecond: number, size: number): Promise<SlowLine> =>
  openLine(clock, bytesPerSecond, (begin) => (response, { headers }) => {
    const from = Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0);
    const range = from > 0 && { "content-range": `bytes ${from}-${size - 1}/${size}` };
    response.writeHead(from > 0 ? 206 : 200, { etag: '"v1"', "content-length": size - from, ...range });
    let owed = 0;
    const leave = begin({
      left: size - from,
      pass(bytes) {
        owed += bytes;
        const whole = Math.floor(owed);
        owed -= whole;
        response.write(Buffer.alloc(whole));
      },
      end: () => response.end(Buffer.alloc(Math.round(owed))),
    });
    response.once("close", leave);
  });
