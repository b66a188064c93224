import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import { permissions } from "../../src/cli/commands/mcp/permissions.ts";
import { tools } from "../../src/cli/commands/mcp/tools.ts";

const path = fileURLToPath(new URL("../../docs/agents.md", import.meta.url));
const header = "| tool | what it does | needs |\n|---|---|---|\n";

/** About four characters are one token. */
const tokens = (listed: typeof tools): string => {
  const shown = listed.map(({ name, about, input }) => ({
    ...{ name, description: about },
    inputSchema: z.toJSONSchema(input, { io: "input" }),
  }));
  return (Math.round(JSON.stringify(shown).length / 400) * 100).toLocaleString("en");
};

test("docs/agents.md lists the tools of the program, and their size", () => {
  const page = readFileSync(path, "utf8");
  const rows = tools.map(({ name, title, nature: { needs } }) => {
    const needed = needs === null ? "" : ` \`--allow ${needs}\``;
    return `| \`${name}\` | ${title.toLowerCase()} |${needed} |\n`;
  });
  const start = page.indexOf(header) + header.length;
  const end = page.indexOf("\n\n", start - 1) + 1;
  const reading = tools.filter(({ nature: { needs } }) => needs === null);
  const size = `The list of all tools has about ${tokens(tools)} tokens, that of the ${reading.length} that only read about ${tokens(reading)}.`;
  const updated = (page.slice(0, start) + rows.join("") + page.slice(end)).replace(
    /^The list of all tools .*$/m,
    size,
  );
  // UPDATE_DOCS=1 npx vitest run test/docs/agents.test.ts
  if (process.env.UPDATE_DOCS === "1") return writeFileSync(path, updated);
  expect(page).toBe(updated);
});

test("docs/agents.md explains each permission", () => {
  const page = readFileSync(path, "utf8");
  for (const permission of permissions) expect(page).toContain(`| \`--allow ${permission}\` |`);
});
