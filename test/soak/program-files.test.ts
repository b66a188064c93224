import { execa } from "execa";
import { expect } from "vitest";
import { copyProgram } from "../../soak/program-files.ts";
import { longTest } from "../support/long-test.ts";

longTest("a copy of the program has the change that it was made with", async () => {
  const file = "src/cli/context/errors.ts";
  const { program, remove } = await copyProgram([{ file, from: "usage: 2", to: "usage: 42" }]);
  try {
    const ran = await execa(process.execPath, [program, "products", "lst"], { reject: false });
    expect(ran).toMatchObject({ exitCode: 42, stdout: "" });
    expect(ran.stderr).toContain("unknown command");
  } finally {
    remove();
  }
});
