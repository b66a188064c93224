import { limits, optionRanges } from "../../src/contract/limits.ts";
import { grouped } from "../../src/flows/words.ts";
import type { Line, Measured } from "./measured.ts";
import { mirrorFrom, runsText } from "./mirror-run.ts";
import { duration, type Row, size, table } from "./words.ts";

const sizes = [10_000, 1_000_000, 10_000_000] as const;
const [, million, tenMillion] = sizes;
const nightHours = 8;
const photosPerProduct = 2;
/** The share of the products that a night edits, and the share that it adds. */
const nightShare = 0.001;
const { readsPerMinute, writesPerMinute, page, importRows, tryonInputs, exportProducts } = limits;
const nightWrites = nightHours * 60 * writesPerMinute;

const reading = (reads: number): string => duration(reads / readsPerMinute);
const writing = (writes: number): string => duration(writes / writesPerMinute);
const nights = (writes: number): string => grouped(Math.max(1, Math.ceil(writes / nightWrites)));
const images = (products: number): number => products * photosPerProduct;
const changed = (products: number): number => products * nightShare;
const pages = (products: number): number => Math.ceil(products / page.max);
const nightPages = (products: number): number => pages(2 * changed(products));

/** The writes of each flow for so many products. */
const writes = {
  byUrl: (products: number) => Math.ceil(products / importRows.max),
  local: (products: number) => images(products) + writes.byUrl(products),
  night: (products: number) => changed(products) + writes.byUrl(changed(products)),
  tryons: (products: number) => Math.ceil(products / tryonInputs.max),
  jobs: (products: number) => Math.ceil(products / exportProducts),
};

/** A straight line through two measurements in MB, as text. */
const memory =
  ([[x1, y1], [x2, y2]]: Line) =>
  (count: number): string =>
    size((y1 + ((y2 - y1) / (x2 - x1)) * (count - x1)) * 1e6);

/** A row with a cell for each size of the catalogue. */
const row = (what: string, cellOf: (products: number) => string, ...more: Row): Row => [
  what,
  ...sizes.map(cellOf),
  ...more,
];
const header = (first: string, ...more: Row): Row => [
  first,
  ...sizes.map((products) => `${grouped(products)} products`),
  ...more,
];

/** The complete docs/scale.md. */
export const scalePage = (measured: Measured): string =>
  `${[
    "# Scale",
    "",
    "This page says what each flow takes with 10,000, 1,000,000 and 10,000,000 products, what is not possible with so many, and",
    "what to do instead. `npm run scale` computes it from [measured numbers](#measured-numbers) and the limits of the service.",
    "",
    `A product has ${photosPerProduct} photos here. A night has ${nightHours} hours; it edits ${nightShare * 100}% of the products, and adds as many. Times are the`,
    `least that ${readsPerMinute} reads and ${writesPerMinute} writes per minute allow. All programs of an organization share these limits: a night`,
    `has ${grouped(nightHours * 60 * readsPerMinute)} reads and ${grouped(nightWrites)} writes. How long the service fetches photos and generates images is not known.`,
    "",
    ...section("Times", times(measured)),
    ...section("Import", importing(measured)),
    ...section("Try-ons", generating(measured)),
    ...section("Exports and mirrors", mirroring(measured)),
    ...section("Events", events(measured)),
    ...section("What changes the picture", choices()),
    ...section("Not possible", impossible(measured)),
    ...section("Runs of many products", runsText(measured.runs)),
    ...section("Measured numbers", sources(measured)),
  ].join("\n")}`;

const section = (title: string, lines: readonly string[]): string[] => [`## ${title}`, "", ...lines, ""];

const undoTime = (products: number, { undo }: Measured): string =>
  duration(Math.max((products * undo.reads) / readsPerMinute, (products * undo.writes) / writesPerMinute));

const times = (measured: Measured): string[] => [
  ...table(header("flow", "one request for"), [
    row(
      "import of everything, photos by URL",
      (n) => writing(writes.byUrl(n)),
      `${grouped(importRows.max)} rows`,
    ),
    row("import of everything, local photos", (n) => writing(writes.local(n)), "a photo"),
    row("import of a night's changes", (n) => writing(writes.night(n)), "an edited product"),
    row("undo of a night", (n) => undoTime(2 * changed(n), measured), "a product"),
    row("undo of everything", (n) => undoTime(n, measured), "a product"),
    row("one try-on per product", (n) => writing(writes.tryons(n)), `${tryonInputs.max} images`),
    row("search for missing try-ons", (n) => reading(2 * pages(n)), `${page.max} products, twice`),
    row("export of everything, mirror by one process", (n) => reading(pages(n)), `${page.max} products`),
    row(
      "mirror by four shards, complete read",
      (n) => reading(4 * pages(n)),
      `${page.max} products, in each shard`,
    ),
    row(
      "export of a night's changes, mirror likewise",
      (n) => reading(1 + nightPages(n)),
      `${page.max} products`,
    ),
    row(
      "nightly mirror by four shards",
      (n) => reading(4 * (1 + nightPages(n))),
      `${page.max} products, in each shard`,
    ),
  ]),
  "",
  "Downloads of images do not count here: their signed URLs are not requests to the API. The URLs work for an hour. If downloads are",
  "slower, the page of an image is read again.",
];

const importing = ({ imported, undo }: Measured): string[] => [
  ...table(header("what"), [
    row("writes, photos by URL", (n) => grouped(writes.byUrl(n))),
    row("writes, local photos", (n) => grouped(writes.local(n))),
    row("nights, local photos", (n) => nights(writes.local(n))),
    row("writes of a night's changes", (n) => grouped(writes.night(n))),
    row("writes of an undo of everything", (n) => grouped(n * undo.writes)),
    row("nights of it", (n) => nights(n * undo.writes)),
    row("sheet as CSV", (n) => size(n * imported.sheetRow)),
    row("state on disk", (n) => size(n * imported.stateRow)),
    row("state that a night adds", (n) => size(2 * changed(n) * imported.nightRow)),
    row("memory", memory(imported.memory)),
  ]),
  "",
  `An edited product is one write: an upsert would add its photos again. A night has room for ${grouped(nightWrites)} edits.`,
  "An import reads each edited product, and the products that changed since the last import of the sheet. It asks every 5 seconds for",
  "each of at most 20 batches in progress.",
];

const generating = ({ tryon }: Measured): string[] => [
  ...table(header("one image per product"), [
    row("images, each of which costs credits", grouped),
    row("writes", (n) => grouped(writes.tryons(n))),
    row("nights", (n) => nights(writes.tryons(n))),
    row("reads, if an image takes 9 seconds", (n) => grouped(Math.ceil((n / 1000) * tryon.readsPerThousand))),
    row("reads of `--missing`", (n) => grouped(2 * pages(n))),
    row("state on disk", (n) => size(n * tryon.state)),
    row("memory for one file with all", memory(tryon.memory)),
  ]),
  "",
  `For up to 5,000 products \`--missing\` reads manifests instead of the second list.`,
];

const mirroring = ({ rows, shardMemory, runs }: Measured): string[] => {
  const { indexLine, tableRow, cpuMs } = mirrorFrom(runs);
  return [
    ...table(header("what"), [
      row("reads of a complete export, or of a mirror by one process", (n) => grouped(pages(n))),
      row("the same by four shards", (n) => grouped(4 * pages(n))),
      row("reads of a night by four shards", (n) => grouped(4 * (1 + nightPages(n)))),
      row("`cat export --out FILE.ndjson`", (n) => size(n * rows.ndjson)),
      row("sheet of `cat products export`", (n) => size(n * rows.sheet)),
      row("writes of `--zip` or `--manifest`", (n) => grouped(writes.jobs(n))),
      row("images of a mirror, files and inodes", (n) => grouped(images(n))),
      row("their bytes, with 100 kB each", (n) => size(images(n) * 100_000)),
      row("the least on a disk with blocks of 4 kB", (n) => size(images(n) * 4_096)),
      row("indexes of the shards, and the joined one", (n) => size(2 * images(n) * indexLine)),
      row("tables of the shards", (n) => size(images(n) * tableRow)),
      row("processor time of the first run", (n) => duration((images(n) * cpuMs) / 60_000)),
      row("memory of each of four shards", (n) => memory(shardMemory)(images(n) / 4)),
    ]),
    "",
    "In a bucket each image is one `PUT` instead of a file: [mirrors by many machines](exports.md#mirrors-by-many-machines) has the",
    "requests and prices for 10 million images. A shard that changes anything reads the indexes of all other shards.",
  ];
};

const events = ({ event }: Measured): string[] => [
  ...table(header("one event per product"), [
    row("log of `cat webhooks listen`", (n) => size(n * event)),
    row("reads of `--poll`", (n) => grouped(pages(n))),
  ]),
  "",
  `\`--poll\` makes 12 more reads per minute, which is ${(12 / readsPerMinute) * 100}% of the limit.`,
];

const choices = (): string[] => [
  ...table(
    ["means", "what it saves", "what it costs"],
    [
      ["photos by URL instead of files", "one write per photo", "they must be on a public host for 24 hours"],
      [
        "the [exported sheet](resuming.md#changing-products-in-a-spreadsheet)",
        "writes of cells that you did not change",
        "–",
      ],
      ["`--since last`", "reads of products that did not change", "detached photos are not listed"],
      [
        "`--full-every 0`, and `--full` on a weekend",
        "the complete read of every seventh night",
        "detached photos stay until then",
      ],
      [
        "`--shard I/N`",
        "memory and processor time of each process; downloads run on N machines",
        "each shard makes all reads",
      ],
      ["a bucket", "a disk that all machines share; any machine resumes a shard", "one `PUT` per image"],
      [
        "`--template '{reference}/{role}-{id}{ext}'`",
        "a folder of millions of files, which some tools and file systems do not support",
        "–",
      ],
      ["`cat import --limit N`", "a night that is too short: the next one resumes", "–"],
      ["`--plan`, `--max-changes`", "an undo that would take days", "the reads of the plan"],
    ],
  ),
  "",
  "A mirror without shards makes the fewest requests: use shards only while downloads take longer than reads.",
];

const impossible = (measured: Measured): string[] => {
  const ofLooks = memory(measured.tryon.memory);
  return table(
    ["products", "what", "instead"],
    [
      [
        grouped(million),
        `upload of local photos: ${writing(writes.local(million))}`,
        "put them on a host, and use URLs",
      ],
      [
        grouped(million),
        `undo of everything: ${undoTime(million, measured)}`,
        "import a part first (`--limit`), and check it",
      ],
      [
        grouped(million),
        `one file of try-ons: ${ofLooks(million)} of memory`,
        `files of 100,000 rows: ${ofLooks(100_000)} each`,
      ],
      [
        grouped(tenMillion),
        `edits of all products: ${writing(tenMillion)}`,
        `at most ${grouped(nightWrites)} each night`,
      ],
      [
        grouped(tenMillion),
        `a complete read by four shards: ${reading(4 * pages(tenMillion))}, longer than a night`,
        "one process, or `--full-every 0` and a weekend for `--full`",
      ],
      [
        grouped(tenMillion),
        `a try-on of every product: ${writing(writes.tryons(tenMillion))}`,
        "begin with the newest products",
      ],
      [
        grouped(tenMillion),
        `a mock: \`--demo\` makes ${grouped(optionRanges.demo.max)} products at most`,
        "measure a tenth",
      ],
    ],
  );
};

const sources = ({ imported, undo, tryon, rows, event, shardMemory, runs }: Measured): string[] => {
  const { indexLine, tableRow, cpuMs } = mirrorFrom(runs);
  const flows = "`node bench/million/flows.js 10000`";
  const run = "the largest complete run above";
  const points = (line: Line, things: string) =>
    line.map(([count, megabytes]) => `${megabytes} MB with ${grouped(count)} ${things}`).join(", ");
  return [
    "Memory between and above two measured numbers is on a straight line through both.",
    "",
    ...table(
      ["number", "value", "measured by"],
      [
        ["row of a sheet with two URLs", `${imported.sheetRow} bytes`, flows],
        ["state of an import, per row", `${imported.stateRow} bytes`, flows],
        ["state of a night, per changed row", `${imported.nightRow} bytes`, "the database after six nights"],
        [
          "memory of an import",
          points(imported.memory, "rows"),
          `${flows}, \`npm run bench -- import-million\``,
        ],
        ["requests of an undo, per product", `${undo.reads} reads, ${undo.writes} write`, flows],
        ["state of try-ons, per image", `${tryon.state} bytes`, flows],
        [
          "reads of 1,000 try-ons that take 9 seconds each",
          String(tryon.readsPerThousand),
          "`npm run bench -- tryons`",
        ],
        ["memory of one file of try-ons", points(tryon.memory, "images"), flows],
        ["row of an export, with two images", `${grouped(rows.ndjson)} bytes`, flows],
        ["row of an exported sheet", `${rows.sheet} bytes`, flows],
        ["event in a log", `${event} bytes`, flows],
        ["line of an index", `${indexLine} bytes`, run],
        ["row of a table, with its indexes", `${tableRow} bytes`, run],
        [
          "memory of a shard",
          points(shardMemory, "images"),
          "first runs of 100,000 products and of 1,000,000",
        ],
        ["processor time of an image in a first run", `${cpuMs} ms`, run],
      ],
    ),
  ];
};
