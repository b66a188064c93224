import { copyFileSync, fstatSync, mkdirSync, readdirSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { vi } from "vitest";
import { UnnamedFile } from "../../../src/flows/files/output-file.ts";
import { OpenFile } from "../../../src/open-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A folder as a power cut leaves it before a step. */
interface Cut {
  readonly step: string;
  readonly folder: string;
}

/**
 * Runs work that writes images into a folder. Returns copies of the folder as a power cut leaves it before each write, sync and
 * name of an image: a file that was not synced has its name, and no bytes.
 */
export async function powerCuts(folder: string, work: () => Promise<unknown>): Promise<Cut[]> {
  const cuts: Cut[] = [];
  const synced = new Set<number>();
  const cut = (step: string) => {
    const copy = join(temporaryFolder(), "copy");
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const to = join(copy, path.slice(folder.length));
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(path, to);
      if (!synced.has(statSync(path).ino)) truncateSync(to);
    }
    mkdirSync(copy, { recursive: true });
    cuts.push({ step: `${cuts.length} ${step}`, folder: copy });
  };
  const { sync: syncFile } = OpenFile.prototype;
  const { sync, moveTo } = UnnamedFile.prototype;
  const { write, adopt } = UnnamedFile;
  const spied = [
    vi.spyOn(OpenFile.prototype, "sync").mockImplementation(async function (this: OpenFile) {
      const { ino } = fstatSync(this.descriptor);
      await syncFile.call(this);
      synced.add(ino);
    }),
    vi.spyOn(UnnamedFile, "write").mockImplementation(async (...values) => {
      cut("write");
      return write.apply(UnnamedFile, values);
    }),
    vi.spyOn(UnnamedFile, "adopt").mockImplementation((...values) => {
      cut("adopt");
      return adopt.apply(UnnamedFile, values);
    }),
    vi.spyOn(UnnamedFile.prototype, "sync").mockImplementation(async function (this: UnnamedFile) {
      cut("sync");
      await sync.call(this);
    }),
    vi.spyOn(UnnamedFile.prototype, "moveTo").mockImplementation(function (this: UnnamedFile, ...values) {
      cut("name");
      return moveTo.apply(this, values);
    }),
  ];
  try {
    await work();
    cut("end");
  } finally {
    for (const one of spied) one.mockRestore();
  }
  return cuts;
}
