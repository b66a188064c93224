import { join } from "node:path";
import { expect, test } from "vitest";
import { completions } from "../../../src/cli/completion/complete.ts";
import { createWorld } from "../../support/world.ts";
import { completionHome } from "./completion-home.ts";

test.for([
  ["a command", ["cat", "prod"], ["products", ":files"]],
  [
    "no files after catalogue",
    ["catalogue", "comp"],
    ["completion\tprint a script that completes commands on Tab", ":"],
  ],
  ["a command of a group", ["cat", "models", ""], ["list\tlist models", "get\tshow a model", ":"]],
  ["a file for the system's cat", ["cat", "notes.txt", ""], [":files"]],
  ["a file after a flag of the system's cat", ["cat", "-n", ""], [":files"]],
  ["a file of an import", ["cat", "import", ""], [":files"]],
  ["a flag", ["cat", "products", "list", "--forma"], ["--format\toutput format", ":"]],
  ["a choice", ["cat", "products", "list", "--format", "c"], ["csv", ":"]],
  ["a choice after =", ["cat", "products", "list", "--format=c"], ["--format=csv", ":"]],
  ["an argument with choices", ["catalogue", "completion", "z"], ["zsh", ":"]],
  ["a listed background", ["cat", "tryon", "--background", "st"], ["studio", "street", ":"]],
  ["an angle of any subtype", ["cat", "beautify", "--angle=pa"], ["--angle=pair", ":"]],
  ["a profile", ["cat", "--profile", "st"], ["studio", ":"]],
  [
    "a reference of the last list",
    ["cat", "products", "get", "DRE"],
    ["DRESS-1\tLinen dress", "DRESS 2", ":"],
  ],
  ["no reference of another profile", ["cat", "--profile", "studio", "products", "get", ""], [":"]],
  ["a command after global flags", ["cat", "--json", "model"], ["models", ":files"]],
  ["a name after commands", ["cat", "commands", "prod"], ["products", ":"]],
  ["a second word", ["cat", "commands", "models", ""], ["list\tlist models", "get\tshow a model", ":"]],
  ["nothing after a complete name", ["cat", "commands", "models", "list", ""], [":"]],
  [
    "the flag of commands",
    ["cat", "commands", "--j"],
    ["--json\tprint results and errors as JSON, for scripts", ":"],
  ],
  ["a file after --", ["cat", "serve", "--mock", "--", ""], [":files"]],
] as const)("a shell completes %s", async ([, words, expected]) => {
  const { folder, cat } = await createWorld();
  const home = join(folder, "home");
  await completionHome(home);
  const list = JSON.parse((await cat("commands --json")).stdout);
  const host = { env: { CAT_HOME: home }, cwd: () => folder };
  expect(await completions(host, words, list)).toBe(`${expected.join("\n")}\n`);
});
