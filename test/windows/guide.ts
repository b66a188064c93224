import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execaSync } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { type Block, blocksOf, examplesOf } from "../docs/pages/blocks.ts";
import { normalized, workbookOf } from "../docs/pages/run-page.ts";
import { startService } from "./service.ts";
import { inCmd, translated } from "./shells.ts";
import type { Windows } from "./wine.ts";

const guide = fileURLToPath(new URL("../../docs/guide.md", import.meta.url));

/** The commands of the guide that are in its sentences, or need another service than the sandbox. */
const others = [
  ...["cat import --template new.xlsx", "cat tryon --template new-looks.xlsx", "cat models list"],
  ...["cat import products.xlsx --plan", "cat products export all.xlsx", "cat doctor", "cat whoami"],
];

/** The guide in cmd: its sheets, its commands, and the outputs that it shows. */
export function guideOnWindows(windows: () => Windows): void {
  test("the guide runs in cmd, and prints what it shows", async () => {
    const folder = mkdtempSync(join(windows().shop, "autumn-"));
    const cwd = basename(folder);
    const { env, running } = await startService(windows(), "--speed", "20");
    onTestFinished(() => running.kill());
    // The line that serve prints for cmd.
    const [, line] = /^ {2}(set CAT_BASE_URL=.*)$/m.exec(running.output())!;
    expect(line).toBe(`set CAT_BASE_URL=${env.CAT_BASE_URL}& set CAT_API_KEY=ak_mock`);
    expect(await windows().batch([line!, "catalogue whoami"])).toMatchObject({ exit: 0 });
    const options = { cwd, env: { ...env, CAT_HOME: String.raw`C:\shop\home-of-${cwd}` } };
    const run = (command: string) => windows().batch([translated(command, inCmd)], options);
    // Where the folder is new, a note says so.
    await run("cat config set label sandbox --profile server");
    const blocks = blocksOf(readFileSync(guide, "utf8"));
    for (const block of blocks) {
      if (block.language === "sheet") writeFileSync(join(folder, block.label), workbookOf(block.lines));
      if (isByHand(block)) execaSync("sh", ["-c", block.lines[0]!], { cwd: folder });
      if (block.language !== "console" || block.label === "no-run") continue;
      for (const { command, output } of examplesOf(block)) {
        const { stdout, stderr } = await run(command);
        const lines = asInGuide(stdout + stderr);
        expect({ command, lines }).toEqual({ command, lines: asInGuide(output!.join("\n")) });
      }
    }
    // "Correct products.xlsx as well, for next week."
    const [first] = blocks.filter(({ label }) => label === "products.xlsx");
    const rows = first!.lines.map((line) => line.replace("fail-timeout", "shirt-3"));
    writeFileSync(join(folder, "products.xlsx"), workbookOf(rows));
    for (const command of others)
      expect({ command, ...(await run(command)) }).toMatchObject({ command, exit: 0 });
  });
}

const isByHand = ({ language, label, lines }: Block): boolean =>
  language === "sh" && label === "" && lines[0]!.startsWith("sed ");

/** Lines of an output, without what differs from run to run, in the words of the guide. */
const asInGuide = (output: string): string[] =>
  normalized(output.replace(/\n$/, "").split("\n")).map((line) =>
    line
      .replaceAll("\\", "/")
      .replace(/\bcatalogue (?=import|tryon|export)/g, "cat ")
      .replace(/[\d.]+ kB downloaded/, "SIZE downloaded")
      .trimEnd(),
  );
