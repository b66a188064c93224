import { expect, onTestFinished, test, vi } from "vitest";
import { nodeContext } from "../../../src/cli/context/context.ts";

test.each([
  [0, 80],
  [undefined, 80],
  [132, 132],
])("a terminal of %s columns counts as %i", (columns, width) => {
  const before = Object.getOwnPropertyDescriptor(process.stdout, "columns");
  const listen = vi.spyOn(process, "on").mockReturnThis();
  onTestFinished(() => {
    listen.mockRestore();
    if (before === undefined) delete (process.stdout as { columns?: number }).columns;
    else Object.defineProperty(process.stdout, "columns", before);
  });
  Object.defineProperty(process.stdout, "columns", { value: columns, configurable: true });
  expect(nodeContext("cat").stdout.columns).toBe(width);
});
