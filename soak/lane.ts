import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gate } from "./gate.ts";
import { Service } from "./service.ts";

/** A service of its own with the gate before it: runs follow one another on it. */
export interface Lane {
  readonly service: Service;
  readonly gate: Gate;
  /** A folder for what the runs need. */
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** `program` is the file that Node runs. */
export async function openLane(program: string): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const service = await Service.start(folder, program);
  const gate = await Gate.before(service.baseUrl);
  const close = async () => {
    gate.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { service, gate, folder, close };
}
