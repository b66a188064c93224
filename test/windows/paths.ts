import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startService, type WindowsService } from "./service.ts";
import type { Windows } from "./wine.ts";

/** Rows of a CSV file as Excel saves them. */
export const csv = (...rows: string[]): string => rows.map((row) => `${row}\r\n`).join("");

/** The files of a folder and those below it, with slashes, without those of the program. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".catalogue-sync"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/** Names that Windows reads otherwise, or not at all, and what the program makes of them. */
export function pathsOnWindows(windows: () => Windows, service: () => WindowsService): void {
  const write = (name: string, text: string) => writeFileSync(join(windows().shop, name), text);
  const cat = (args: readonly string[], env: Record<string, string> = {}) =>
    windows().cat(args, { env: { ...service().env, ...env } });

  beforeAll(async () => {
    const { shop } = windows();
    mkdirSync(join(shop, "photos/sub"), { recursive: true });
    for (const [name, background] of [
      ["photos/a.png", "#345"],
      ["photos/sub/b.png", "#456"],
      ["photos/sub/Grün é.png", "#567"],
    ] as const)
      await sharp({ create: { width: 640, height: 640, channels: 3, background } }).toFile(join(shop, name));
  });

  describe("paths", () => {
    test.for([
      ["SLASH-1", String.raw`photos\a.png`, String.raw`.\photos\sub\b.png`],
      ["SLASH-2", String.raw`C:\shop\photos\a.png`, "c:/shop/photos/sub/b.png"],
      ["SLASH-3", String.raw`\shop\photos\a.png`, String.raw`PHOTOS\Sub\B.PNG`],
      ["SLASH-4", String.raw`photos/sub\Grün é.png`, String.raw`photos\..\photos\a.png`],
    ] as const)("of photos may have backslashes and drives: %s %s %s", async ([reference, ...photos]) => {
      write("paths.csv", csv("reference,name,image_1,image_2", [reference, "Dress", ...photos].join(",")));
      expect(await cat(["import", "paths.csv"])).toMatchObject({ exit: 0 });
      const { data } = await service().get(`/products?q=${reference}`);
      expect((data as { images: unknown[] }[]).map(({ images }) => images.length)).toEqual([2]);
    });

    test.for([
      String.raw`C:\shop\drive.csv`,
      "C:/shop/drive.csv",
      "C:drive.csv",
      "DRIVE.CSV",
      String.raw`.\photos\..\drive.csv`,
    ])("of a file to import may be %s", async (path) => {
      write("drive.csv", csv("reference,name,image_1", String.raw`DRIVE-1,Dress,photos\a.png`));
      const stderr = `${path}: 1 row, all valid. Nothing was sent (--dry-run).\n`;
      expect(await cat(["import", path, "--dry-run"])).toEqual({ exit: 0, stdout: "", stderr });
    });

    test("of printed commands can be typed in cmd as they are", async () => {
      mkdirSync(join(windows().shop, "my shop"), { recursive: true });
      const rows = csv("reference,name,image_1", "SPACE-1,Dress,https://cdn.example.com/fail-timeout.jpg");
      write("my shop/a sheet (2), new.csv", rows);
      const { stderr } = await cat(["import", String.raw`my shop\a sheet (2), new.csv`]);
      const [, command] = /^ {2}(catalogue import .*)$/m.exec(stderr)!;
      expect(command).toBe(String.raw`catalogue import "my shop\a sheet (2), new.failed.csv"`);
      const ran = await windows().batch([command!], { env: service().env });
      expect([ran.exit, ran.stderr]).toEqual([
        8,
        expect.stringMatching(/^Imported 0 of 1 row from my shop\\a sheet /),
      ]);
    });

    test("of templates and patterns may have backslashes", async () => {
      mkdirSync(join(windows().shop, "by-side/TEMPLATE-1"), { recursive: true });
      const photo = readFileSync(join(windows().shop, "photos/a.png"));
      writeFileSync(join(windows().shop, "by-side/TEMPLATE-1/front.png"), photo);
      const pattern = String.raw`{reference}\{side}`;
      expect(await cat(["import", "by-side", "--pattern", pattern])).toMatchObject({ exit: 0 });
      const template = String.raw`{reference}\{orientation}{ext}`;
      const sync = ["export", "sync", "by-product", "--template", template];
      expect(await cat(sync)).toMatchObject({ exit: 0 });
      expect(filesIn(join(windows().shop, "by-product"))).toContain("TEMPLATE-1/front.png");
    });

    test("of another drive lead outside the folder of the file", async () => {
      write("other.csv", csv("reference,name,image_1", String.raw`OTHER-1,Dress,D:\photos\a.png`));
      const { exit, stderr } = await cat(["import", "other.csv"]);
      expect([exit, stderr]).toEqual([
        3,
        expect.stringContaining("other.csv:2  image_1  photo_outside_root"),
      ]);
    });

    test("of a network share can be read, written and mirrored into", async () => {
      const share = windows().share("server", "shop");
      writeFileSync(join(share, "net.csv"), csv("reference,name,image_front", "NET-1,Dress,net.png"));
      writeFileSync(join(share, "net.png"), readFileSync(join(windows().shop, "photos/a.png")));
      const at = String.raw`\\server\shop`;
      const ran = await cat(["import", `${at}\\net.csv`, "--results", `${at}\\results.csv`]);
      expect(ran).toMatchObject({ exit: 0, stdout: "" });
      expect(ran.stderr).toMatch(/^Imported 1 row from \\\\server\\shop\\net\.csv in .*: 1 created\.\n/);
      expect(await cat(["export", "sync", `${at}\\mirror`])).toMatchObject({ exit: 0 });
      expect(filesIn(share)).toEqual(
        expect.arrayContaining(["mirror/NET-1_front.png", "mirror/catalogue.ndjson", "results.csv"]),
      );
    });

    test("may be longer than 260 characters: photos, results, ZIPs, mirrors and the state", async () => {
      const folder = Array.from({ length: 5 }, () => "f".repeat(60)).join("\\");
      const below = join(windows().shop, folder.replaceAll("\\", "/"));
      mkdirSync(below, { recursive: true });
      writeFileSync(join(below, "long.csv"), csv("reference,name,image_front", "LONG-1,Dress,a.png"));
      writeFileSync(join(below, "a.png"), readFileSync(join(windows().shop, "photos/a.png")));
      const at = `C:\\shop\\${folder}`;
      const env = { CAT_HOME: `${at}\\home` };
      const steps = [
        ["import", `${folder}\\long.csv`, "--results", `${folder}\\results.csv`],
        ["export", "--zip", "--out", `${at}\\images.zip`],
        ["export", "--zip", "--extract", `${at}\\images`],
        ["products", "export", `${folder}\\products.xlsx`],
        ["export", "sync", `${at}\\mirror`],
        ["runs", "list"],
      ];
      for (const step of steps) expect(await cat(step, env)).toMatchObject({ exit: 0 });
      const files = filesIn(below);
      for (const name of ["results.csv", "images.zip", "products.xlsx", "home/state/default.db"])
        expect(files).toContain(name);
      for (const folder of ["images", "mirror"]) expect(files).toContain(`${folder}/LONG-1_front.png`);
    });
  });

  describe("names", () => {
    /** References that Windows reads as devices, as each other, as paths, or not at all. */
    const references = [
      "CON",
      "nul",
      "COM1",
      "COM²",
      "CONIN$",
      "AUX.txt",
      "DRESS.",
      "DRESS..",
      "Dress",
      "dRESS",
    ]
      .concat(["LPT1 x", "a:b", 'q?*"<>|', "..", String.raw`a/b\c`])
      .map((reference) => `"${reference.replaceAll('"', '""')}"`);

    test("of products become names of files: devices, trailing dots, twins, signs", async () => {
      const own = await startedEmpty();
      write(
        "names.csv",
        csv("reference,name,image_front", ...references.map((one, at) => `${one},N${at},photos\\a.png`)),
      );
      expect(await own(["import", "names.csv", "--codes-as-written"])).toMatchObject({ exit: 0 });
      const template = "{reference}/{orientation}{ext}";
      for (const [folder, ...flags] of [["flat"], ["deep", "--template", template]] as const) {
        const ran = await own(["export", "sync", folder, ...flags]);
        expect(ran.stderr).toMatch(/: 15 added /);
        const names = filesIn(join(windows().shop, folder)).filter((name) => name.endsWith(".png"));
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(references.length);
        for (const part of names.flatMap((name) => name.split("/")))
          expect(part).not.toMatch(/[. ]$|[<>:"|?*\\]|^(?:con|nul|aux|com1|com²|conin\$|lpt1)(?:\.|$)/i);
        expect((await own(["export", "sync", folder, ...flags])).stderr).toMatch(/: 15 unchanged\.\n$/);
      }
      expect(await own(["export", "--zip", "--extract", "extracted"])).toMatchObject({ exit: 0 });
      expect(filesIn(join(windows().shop, "extracted"))).toHaveLength(references.length);
    });

    test.for([
      "CON",
      "nul.ndjson",
      "com1.ndjson",
      "out.ndjson ",
      "out.ndjson.",
      "a?b.ndjson",
      "a:b:c.ndjson",
    ])("that Windows does not allow are rejected for outputs: %j", async (name) => {
      const stderr = `error: cannot write --out ${name}: Windows does not allow this name\nChoose another name.\n`;
      expect(await cat(["export", "--out", name])).toEqual({ exit: 2, stdout: "", stderr });
    });

    test("of folders likewise", async () => {
      for (const name of ["aux", "mirror."]) {
        const stderr = `error: cannot write ${name}: Windows does not allow this name\nChoose another name.\n`;
        expect(await cat(["export", "sync", name])).toEqual({ exit: 2, stdout: "", stderr });
      }
    });
  });

  /** Runs `catalogue` against a service without other products. */
  async function startedEmpty() {
    const { env, running } = await startService(windows(), "--speed", "50");
    onTestFinished(() => running.kill());
    return (args: readonly string[]) => windows().cat(args, { env });
  }
}
