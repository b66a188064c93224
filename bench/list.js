import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pairedRatio, root, timed, withPeak } from "./pairs.js";
import { memoryNote, settingsFor, withServer } from "./saving.js";
import { startMockServer, startPagesServer } from "./servers.js";

const cat = join(root, "bin/cat.js");

/** Lists of products: the first page of a running mock, and all of a large catalogue. */
export const measure = async ({ products = 100_000, runs = 5 } = {}) => [
  await firstPage(),
  await allProducts(products, runs),
];

/** `cat products list` against a running mock, compared with a Node that does nothing. */
const firstPage = () =>
  withServer(
    () => startMockServer("--demo", "100"),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const list = async () =>
        (await timed(process.execPath, [cat, "products", "list", "--quiet"], { env })).ms;
      const nothing = async () => (await timed(process.execPath, ["-e", "0"])).ms;
      return {
        what: "cat products list / node -e 0",
        ratio: await pairedRatio(31, list, nothing),
        goal: 2,
        atMost: true,
      };
    },
  );

/** `--all --json` against a bare undici loop that only joins the bytes of the pages, each into its own file. */
const allProducts = (products, runs) =>
  withServer(
    () => startPagesServer(products, 2),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const [ours, theirs] = [join(folder, "ours.ndjson"), join(folder, "theirs.json")];
      const peaks = [];
      const list = async () => {
        const args = [cat, "products", "list", "--all", "--json"];
        const { ms, peak } = await withPeak(args, { env, into: ours });
        peaks.push(peak);
        return ms;
      };
      const loop = async () =>
        (await withPeak([join(root, "bench/join-bytes.js"), server.base_url, theirs])).ms;
      // The goal is a speed: the time of the loop over ours.
      const ratio = await pairedRatio(runs, loop, list);
      const lines = readFileSync(ours, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("{"));
      if (lines.length !== products) throw new Error(`${lines.length} products were listed, not ${products}`);
      if (statSync(theirs).size < statSync(ours).size) throw new Error("the loop has fewer bytes");
      return {
        what: `cat products list --all --json of ${products.toLocaleString("en")} products, speed against a bare undici loop`,
        ratio,
        goal: 0.6,
        note: memoryNote(peaks),
      };
    },
  );
