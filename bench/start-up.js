import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairedRatio, root, timed } from "./pairs.js";

const cat = join(root, "bin/cat.js");

/** The time of a command from a cold start, against a Node that does nothing. */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  try {
    const file = join(folder, "ten.csv");
    const rows = Array.from(
      { length: 10 },
      (_, index) => `SKU-${index},Dress,https://cdn.example.com/${index}.jpg\n`,
    );
    writeFileSync(file, `reference,name,images\n${rows.join("")}`);
    const node =
      (...args) =>
      async () =>
        (await timed(process.execPath, args)).ms;
    const nothing = node("-e", "0");
    const catalogue = join(root, "bin/catalogue.js");
    return [
      {
        what: "cat --version / node -e 0",
        ratio: await pairedRatio(31, node(cat, "--version"), nothing),
        goal: 1.2,
        atMost: true,
      },
      {
        what: "cat import --dry-run, ten rows / node -e 0",
        ratio: await pairedRatio(31, node(cat, "import", "--dry-run", "--quiet", file), nothing),
        goal: 1.6,
        atMost: true,
      },
      {
        what: "cat --help / node -e 0",
        ratio: await pairedRatio(31, node(cat, "--help"), nothing),
        goal: 1.3,
        atMost: true,
      },
      {
        what: "completion of cat products list --fo / node -e 0",
        ratio: await pairedRatio(
          31,
          node(catalogue, "__complete", "cat", "products", "list", "--fo"),
          nothing,
        ),
        goal: 1.3,
        atMost: true,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
