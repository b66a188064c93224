import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { csv } from "./paths.ts";
import type { WindowsService } from "./service.ts";
import type { Windows } from "./wine.ts";

/** A text as `>` of PowerShell writes it. */
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

/** Texts as the programs of Windows write them. */
export function textsOnWindows(windows: () => Windows, service: () => WindowsService): void {
  const write = (name: string, text: string | Buffer) => writeFileSync(join(windows().shop, name), text);
  const read = (name: string) => readFileSync(join(windows().shop, name));
  const cat = (args: readonly string[], input?: string) =>
    windows().cat(args, { env: service().env, ...(input !== undefined && { input }) });
  const photo = "https://cdn.example.com/a.jpg";
  const failing = "https://cdn.example.com/fail-timeout.jpg";

  describe("texts", () => {
    test("of a sheet keep their line ends in the failed file", async () => {
      write(
        "ends.csv",
        csv("reference,name,image_1", `ENDS-1,Dress,${photo}`, `ENDS-2,"Two\r\nlines",${failing}`),
      );
      expect(await cat(["import", "ends.csv"])).toMatchObject({ exit: 8 });
      const [header, first, second] = read("ends.failed.csv").toString().split("\r\n");
      expect([header, first, second]).toEqual([
        "reference,name,image_1,error_code,error_message",
        'ENDS-2,"Two',
        expect.stringMatching(/^lines",.*fail-timeout/),
      ]);
    });

    test("in UTF-16 are sheets, rows and bodies, and so are their failed rows", async () => {
      write(
        "wide.csv",
        utf16(csv("reference;name;image_1", `WIDE-1;Grün;${photo}`, `WIDE-2;Grün;${failing}`)),
      );
      expect(await cat(["import", "wide.csv"])).toMatchObject({ exit: 8 });
      expect(read("wide.failed.csv").toString("utf16le")).toMatch(
        /^\ufeffreference;name;image_1;.*\r\nWIDE-2;Grün;/,
      );
      const image = JSON.stringify({ reference: "WIDE-3", name: "Grün", images: [{ url: photo }] });
      write("wide.ndjson", utf16(`${image}\r\n`));
      expect(await cat(["import", "wide.ndjson"])).toMatchObject({ exit: 0 });
      expect(await service().references("WIDE-")).toEqual(["WIDE-1", "WIDE-3"]);
      const { data } = await service().get("/products?q=WIDE-3");
      const [product] = data as { id: string; name: string }[];
      write("body.json", utf16('{ "name": "Größe" }'));
      const ran = await cat(["api", "PATCH", `/products/${product!.id}`, "--input", "body.json"]);
      expect(ran).toMatchObject({ exit: 0 });
      expect(await service().get(`/products/${product!.id}`)).toMatchObject({ name: "Größe" });
    });

    test("of lists that were sent to a file by PowerShell can be imported", async () => {
      write("listed.csv", csv("reference,name,image_1", `LISTED-1,Grün,${photo}`));
      expect(await cat(["import", "listed.csv"])).toMatchObject({ exit: 0 });
      const { stdout } = await cat(["products", "export", "-", "--q", "LISTED-1"]);
      write("listed.csv", utf16(stdout.replaceAll("\n", "\r\n")));
      const { exit, stderr } = await cat(["import", "listed.csv"]);
      expect([exit, stderr]).toEqual([0, "Nothing to do: the row of listed.csv is unchanged.\n"]);
    });

    test("from a terminal print letters of every language to a file", async () => {
      write("letters.csv", csv("reference,name,image_1", `LETTERS-1,Grün 緑 🙂,${photo}`));
      expect(await cat(["import", "letters.csv"])).toMatchObject({ exit: 0 });
      const { stdout } = await cat(["products", "get", "LETTERS-1", "--json"]);
      expect(JSON.parse(stdout)).toMatchObject({ name: "Grün 緑 🙂" });
    });
  });

  describe("settings", () => {
    const home = String.raw`C:\shop\home`;
    const own = (args: readonly string[], input?: string) => {
      const { CAT_BASE_URL = "" } = service().env;
      const env = { CAT_HOME: home, ...(args[0] === "login" && { CAT_BASE_URL }) };
      return windows().cat(args, { env, ...(input !== undefined && { input }) });
    };

    test.for(["utf8", "utf16le"] as const)(
      "keep a key that is given in %s in the credential manager",
      async (encoding) => {
        write("key.txt", Buffer.from("\ufeffak_mock\r\n", encoding));
        const ran = await own(["login", "--with-key"], "key.txt");
        expect([ran.exit, ran.stderr]).toEqual([
          0,
          expect.stringContaining("The key ak_… is in the keychain."),
        ]);
        expect(await own(["whoami"])).toMatchObject({ exit: 0 });
        expect(await own(["logout"])).toMatchObject({ exit: 0 });
        expect(await own(["products", "list"])).toMatchObject({ exit: 4 });
      },
    );

    test("are below AppData, also with a mark of an editor", async () => {
      const path = String.raw`C:\users\anna\AppData\Roaming\catalogue\Config\config.json`;
      expect(await windows().cat(["config", "path"])).toMatchObject({ stdout: `${path}\n` });
      expect(await windows().cat(["config", "set", "label", "shop"])).toMatchObject({ exit: 0 });
      const file = join(windows().user, "AppData/Roaming/catalogue/Config/config.json");
      writeFileSync(file, utf16(readFileSync(file, "utf8")));
      expect(await windows().cat(["config", "get", "label"])).toEqual({
        exit: 0,
        stdout: "shop\n",
        stderr: "",
      });
      writeFileSync(file, "{");
      const { exit, stderr } = await windows().cat(["config", "get", "label"]);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(`: move ${path} ${path}.old\n`)]);
      expect(await windows().batch([`move ${path} ${path}.old`])).toMatchObject({ exit: 0 });
      expect(await windows().cat(["config", "set", "label", "shop"])).toMatchObject({ exit: 0 });
    });
  });
}
