import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pairedRatio, root, timed } from "./pairs.js";

const cat = join(root, "bin/cat.js");

/**
 * The time of a command from a cold start, against a Node that does nothing. The command has code kept from earlier starts of its
 * own alone: what V8 keeps of a part is what the first command used of it.
 */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  try {
    const file = join(folder, "ten.csv");
    const rows = Array.from(
      { length: 10 },
      (_, index) => `SKU-${index},Dress,https://cdn.example.com/${index}.jpg\n`,
    );
    writeFileSync(file, `reference,name,images\n${rows.join("")}`);
    const nothing = async () => (await timed(process.execPath, ["-e", "0"])).ms;
    const started = async (...args) => {
      const env = { ...process.env, XDG_CACHE_HOME: mkdtempSync(join(folder, "caches-")) };
      const start = async () => (await timed(process.execPath, args, { env })).ms;
      // The first start makes the folder of the code, the second fills it.
      for (const _ of [1, 2]) await start();
      return pairedRatio(31, start, nothing);
    };
    // As in a script of a project, where its link comes first on PATH.
    symlinkSync(cat, join(folder, "cat"));
    const inScript = { env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` } };
    const handedOver = async () => (await timed(process.execPath, [cat, file], inScript)).ms;
    const catalogue = join(root, "bin/catalogue.js");
    return [
      {
        what: "cat --version / node -e 0",
        ratio: await started(cat, "--version"),
        goal: 1.2,
        atMost: true,
      },
      {
        what: "cat FILE in a script, handed over to the system's cat / node -e 0",
        ratio: await pairedRatio(31, handedOver, nothing),
        goal: 1.1,
        atMost: true,
      },
      {
        what: "cat import --dry-run, ten rows / node -e 0",
        ratio: await started(cat, "import", "--dry-run", "--quiet", file),
        goal: 1.6,
        atMost: true,
      },
      {
        what: "cat --help / node -e 0",
        ratio: await started(cat, "--help"),
        goal: 1.3,
        atMost: true,
      },
      {
        what: "completion of cat products list --fo / node -e 0",
        ratio: await started(catalogue, "__complete", "cat", "products", "list", "--fo"),
        goal: 1.3,
        atMost: true,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
