import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { csv } from "./paths.ts";
import type { WindowsService } from "./service.ts";
import type { Windows } from "./wine.ts";

const closeIt = "Close it there (such as in Excel), and run the command again.\n";
const photo = "https://cdn.example.com/a.jpg";
const failing = "https://cdn.example.com/fail-timeout.jpg";

/** Files that another program has open, such as a sheet in Excel. */
export function heldFilesOnWindows(windows: () => Windows, service: () => WindowsService): void {
  const cat = (args: readonly string[]) => windows().cat(args, { env: service().env });
  const write = (name: string, text: string) => writeFileSync(join(windows().shop, name), text);
  const hold = async (file: string, access: "r" | "w", share: number) => {
    const release = await windows().hold(file, access, share);
    onTestFinished(release);
    return release;
  };

  describe("a file that is open in another program", () => {
    test("is read if that program allows it, as Excel does", async () => {
      write("held.csv", csv("reference,name,image_1", `HELD-1,Dress,${photo}`));
      await hold("held.csv", "w", 1);
      expect(await cat(["import", "held.csv", "--dry-run"])).toMatchObject({ exit: 0 });
    });

    test("cannot be imported otherwise: the command says to close it", async () => {
      write("denied.csv", csv("reference,name,image_1", `HELD-2,Dress,${photo}`));
      await hold("denied.csv", "w", 0);
      const stderr = `error: cannot read denied.csv: another program is using it\n${closeIt}`;
      expect(await cat(["import", "denied.csv"])).toEqual({ exit: 2, stdout: "", stderr });
    });

    test("is no photo that can be uploaded: the row says why", async () => {
      write("photographed.csv", csv("reference,name,image_1", String.raw`HELD-3,Dress,photos\a.png`));
      await hold(String.raw`photos\a.png`, "w", 0);
      const { exit, stderr } = await cat(["import", "photographed.csv"]);
      const problem = String.raw`image_1  photo_not_readable  cannot read "photos\\a.png": another program is using it`;
      expect([exit, stderr]).toEqual([3, expect.stringContaining(`photographed.csv:2  ${problem}\n`)]);
    });

    test.for([
      ["w", 0],
      ["w", 1],
      ["r", 1],
    ] as const)(
      "is no place for results, which is said before anything is sent: %s %d",
      async ([access, share]) => {
        write("sent.csv", csv("reference,name,image_1", `SENT-${access}${share},Dress,${photo}`));
        write("results.csv", "kept");
        await hold("results.csv", access, share);
        const stderr = `error: cannot write --results results.csv: another program is using it\n${closeIt}`;
        const ran = await cat(["import", "sent.csv", "--results", "results.csv"]);
        expect(ran).toEqual({ exit: 2, stdout: "", stderr });
        expect(await service().references(`SENT-${access}${share}`)).toEqual([]);
        expect(readFileSync(join(windows().shop, "results.csv"), "utf8")).toBe("kept");
      },
    );

    test("does not take the failed rows of the next run: they get another name", async () => {
      write("again.csv", csv("reference,name,image_1", `AGAIN-1,Dress,${failing}`));
      expect(await cat(["import", "again.csv"])).toMatchObject({ exit: 8 });
      await hold("again.failed.csv", "w", 1);
      const { exit, stderr } = await cat(["import", "again.csv", "--fresh"]);
      expect(exit).toBe(8);
      expect(stderr).toContain("Failed rows are in again.failed-2.csv, with the reasons.");
      expect(existsSync(join(windows().shop, "again.failed-2.csv"))).toBe(true);
    });

    test("is not replaced, also if it could be written: the command says to close it", async () => {
      write("list.csv", "kept");
      const release = await hold("list.csv", "r", 3);
      const list = ["products", "list", "--out", "list.csv", "--yes"];
      const stderr = `error: cannot write C:\\shop\\list.csv: another program is using it\n${closeIt}`;
      expect(await cat(list)).toEqual({ exit: 2, stdout: "", stderr });
      expect(readFileSync(join(windows().shop, "list.csv"), "utf8")).toBe("kept");
      await release();
      expect(await cat(list)).toMatchObject({ exit: 0 });
      expect(readFileSync(join(windows().shop, "list.csv"), "utf8")).toMatch(/^id,reference,/);
    });

    test("is replaced once a virus scanner has closed it", async () => {
      write("scanned.csv", "kept");
      const release = await hold("scanned.csv", "r", 3);
      const running = windows().start(["products", "list", "--mock", "--out", "scanned.csv", "--yes"]);
      // The complete file is moved at once: the first attempt is over before the other program notices.
      const { shop } = windows();
      const unfinished = () => readdirSync(shop).filter((name) => /^\.\w{12}-.*\.part$/.test(name));
      const size = (name: string) => statSync(join(shop, name), { throwIfNoEntry: false })?.size ?? 0;
      await until(() => unfinished().some((name) => size(name) > 0), { pauseMs: 1, seen: running.output });
      await release();
      expect(await running.ended).toMatchObject({ exit: 0 });
      expect(readFileSync(join(windows().shop, "scanned.csv"), "utf8")).toMatch(/^id,reference,/);
    });

    test("of a mirror waits for the next run", async () => {
      write("mirrored.csv", csv("reference,name,image_front", `MIRROR-1,Dress,${photo}`));
      expect(await cat(["import", "mirrored.csv"])).toMatchObject({ exit: 0 });
      expect(await cat(["export", "sync", "watched"])).toMatchObject({ exit: 0 });
      const image = join(windows().shop, "watched/MIRROR-1_front.jpg");
      expect(existsSync(image)).toBe(true);
      const release = await hold(String.raw`watched\MIRROR-1_front.jpg`, "r", 1);
      expect(await cat(["products", "delete", "MIRROR-1", "--yes"])).toMatchObject({ exit: 0 });
      const { exit, stderr } = await cat(["export", "sync", "watched", "--delete"]);
      expect(exit).toBe(8);
      expect(stderr).toContain("cannot delete MIRROR-1_front.jpg: another program is using it\n");
      await release();
      expect(await cat(["export", "sync", "watched", "--delete"])).toMatchObject({ exit: 0 });
      expect(existsSync(image)).toBe(false);
    });
  });
}
