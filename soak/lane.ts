import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gate, type StepOf } from "./gate.ts";
import { Service } from "./service.ts";

/** A service with a gate before it: runs follow one another on it. */
export interface Lane<Step extends string> {
  readonly service: Service;
  readonly gate: Gate<Step>;
  /** A folder for the files of the runs. */
  readonly folder: string;
  /** No more faults from here on. */
  readonly calm: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `program` is the file that Node runs. */
export async function openLane<Step extends string>(
  program: string,
  stepOf: StepOf<Step>,
): Promise<Lane<Step>> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const service = await Service.start(folder, program);
  const gate = await Gate.before(service.baseUrl, stepOf);
  const close = async () => {
    gate.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const calm = async () => {
    gate.treat = () => null;
    await service.clearFaults();
  };
  return { service, gate, folder, calm, close };
}

/** Does `work` on an empty service, with an empty folder. */
export async function onEmptyLane<Result, Step extends string>(
  { service, gate, folder }: Lane<Step>,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const own = mkdtempSync(join(folder, "run-"));
  try {
    await service.reset();
    return await work(own);
  } finally {
    gate.hold = async () => {};
    await gate.quiet();
    rmSync(own, { recursive: true, force: true });
  }
}
