import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "catalogue-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
