import { expect, test } from "vitest";
import { expectedAt } from "../../../src/cli/completion/words.ts";
import { exitMeanings } from "../../../src/cli/context/errors.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { createWorld } from "../../support/world.ts";

test("help environment lists the variables, for people and as JSON", async () => {
  const world = await createWorld();
  const ran = await world.cat("help environment");
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(ran.stdout).toMatch(
    /^Settings \(.*\)\n {2}CAT_BASE_URL {2,}URL of the service, without \/v1 \(flag: --base-url\)\n/,
  );
  const { variables } = JSON.parse((await world.cat("--json help environment")).stdout);
  expect(variables).toContainEqual({
    name: "CAT_WEBHOOK_SECRET",
    about: "signing secret of webhooks, for cat webhooks",
  });
});

test("help exit-codes lists every status, with what a script can do", async () => {
  const world = await createWorld();
  const ran = await world.cat("help exit-codes");
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(ran.stdout).toContain("\n    5  not found\n");
  expect(ran.stdout).toContain(
    "\n    7  run the same command again later: it resumes, and nothing is sent twice\n",
  );
  const { exit_statuses } = JSON.parse((await world.cat("help exit-codes --json")).stdout);
  expect(exit_statuses.map(({ status }: { status: number }) => String(status))).toEqual(
    Object.keys(exitMeanings),
  );
});

test("the top help names the topics, and a topic with another word is an unknown command", async () => {
  const world = await createWorld();
  expect((await world.cat("help")).stdout).toContain(
    "\nOther topics: cat help environment, cat help exit-codes\n",
  );
  expect(await world.cat("help environment import")).toMatchObject({
    exit: 2,
    stderr: 'error: unknown command "environment"\nSee: cat --help\n',
  });
});

test("Tab completes the topics after help, next to the commands", async () => {
  const list = await listedCommands();
  const words = (line: string) => expectedAt(list, line.split(" "), true).words.map(([word]) => word);
  expect(words("help e")).toEqual(expect.arrayContaining(["environment", "exit-codes", "export"]));
  expect(words("e")).not.toContain("environment");
});
