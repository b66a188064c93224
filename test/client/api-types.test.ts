import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, expectTypeOf } from "vitest";
import { apiFiles } from "../../scripts/api-types/api-files.ts";
import { mockFiles } from "../../scripts/api-types/mock-files.ts";
import type { Input as PublicInput } from "../../src/client/api/calls.ts";
import type { Operations } from "../../src/client/api/operations.ts";
import type { Input } from "../../src/client/request.ts";
import type { Operations as Contract } from "../../src/contract/operations.ts";
import type { FaultOrder } from "../../src/mock/api/faults.ts";
import type { MockState } from "../../src/mock/api/state.ts";
import type { FaultOrder as CheckedFault } from "../../src/mock/faults/fault-order.ts";
import type { SavedState } from "../../src/mock/snapshot/snapshot.ts";
import { longTest } from "../support/long-test.ts";

const source = join(import.meta.dirname, "../../src");

longTest.each([
  ["client", apiFiles, ["calls.ts"]],
  ["mock", mockFiles, ["mock.ts", "options.ts", "recorded.ts"]],
] as const)("src/%s/api/ is what `npm run api-types` makes", async (part, files, written) => {
  const folder = join(source, part, "api");
  const made: Record<string, string> = files();
  const formatted = Object.entries(made).map(async ([name, input]) => {
    const args = ["check", "--write", `--stdin-file-path=${join(folder, name)}`];
    const { stdout } = await execa("biome", args, { input, preferLocal: true, stripFinalNewline: false });
    expect(readFileSync(join(folder, name), "utf8"), name).toBe(stdout);
  });
  await Promise.all(formatted);
  expect(readdirSync(folder).sort()).toEqual([...Object.keys(made), ...written].sort());
});

longTest("an input of the package fits the contract", () => {
  type Given<R extends keyof Operations, V extends keyof Operations[R]> = PublicInput<Operations[R][V]>;
  type Patch = NonNullable<Input<Contract["webhooks"]["update"]>["body"]>;
  type Shot = NonNullable<Input<Contract["tasks"]["beautify"]>["body"]>;
  expectTypeOf<Given<"products", "list">>().toExtend<Input<Contract["products"]["list"]>>();
  expectTypeOf<Given<"products", "update">["product_id"]>().toEqualTypeOf<string>();
  expectTypeOf<Given<"tasks", "list">>().toExtend<Input<Contract["tasks"]["list"]>>();
  expectTypeOf<NonNullable<Given<"tasks", "beautify">["body"]>>().toExtend<Shot>();
  // Lists of the package are read-only, so that the contract's are wider.
  expectTypeOf<Patch>().toExtend<NonNullable<Given<"webhooks", "update">["body"]>>();
  expectTypeOf<Given<"exports", "list">>().toExtend<Input<Contract["exports"]["list"]>>();
});

longTest("a state and a fault of the package are those of the mock's schemas", () => {
  expectTypeOf<SavedState>().toExtend<MockState>();
  expectTypeOf<MockState>().toExtend<SavedState>();
  expectTypeOf<CheckedFault>().toExtend<FaultOrder>();
});
