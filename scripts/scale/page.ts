import { limits, optionRanges } from "../../src/contract/limits.ts";
import { counted, grouped } from "../../src/flows/words.ts";
import type { Line, Measured } from "./measured.ts";

const sizes = [10_000, 1_000_000, 10_000_000] as const;
const nightHours = 8;
const photosPerProduct = 2;
/** The share of the products that a night changes, and the share that it adds. */
const nightShare = 0.001;
const { readsPerMinute, writesPerMinute, page, importRows, tryonInputs } = limits;

/** Minutes as they are said: `under 1 min`, `17 min`, `2 h 47 min`, `24 days`. */
export function duration(minutes: number): string {
  if (minutes < 1) return "under 1 min";
  const whole = Math.ceil(minutes);
  if (whole < 60) return `${whole} min`;
  if (whole >= 48 * 60) return counted(Math.ceil(whole / 1_440), "day");
  const rest = whole % 60;
  return `${Math.floor(whole / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

const units = ["B", "kB", "MB", "GB", "TB"];

/** Bytes with two or three digits: `640 MB`, `6.4 GB`. */
export function size(bytes: number): string {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const count = bytes / 1000 ** unit;
  return `${Number(count.toPrecision(count < 10 ? 2 : 3))} ${units[unit]}`;
}

const reading = (reads: number) => reads / readsPerMinute;
const writing = (writes: number) => writes / writesPerMinute;
const pages = (products: number) => Math.ceil(products / page.max);
const batches = (rows: number) => Math.ceil(rows / importRows.max);
const changedIn = (products: number) => products * nightShare;
const nights = (minutes: number) => Math.max(1, Math.ceil(minutes / 60 / nightHours));

/** A straight line through two measurements. */
const line =
  ([[x1, y1], [x2, y2]]: Line) =>
  (x: number) =>
    y1 + ((y2 - y1) / (x2 - x1)) * (x - x1);

type Row = readonly string[];

const table = (header: Row, rows: readonly Row[]): string[] => [
  `| ${header.join(" | ")} |`,
  `|${header.map(() => "---").join("|")}|`,
  ...rows.map((cells) => `| ${cells.join(" | ")} |`),
];

/** A row with a cell for each size of the catalogue. */
const bySize = (what: string, cellOf: (products: number) => string, ...more: Row): Row => [
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
export function scalePage(measured: Measured): string {
  const { imported, undo, tryon, rows, event, mirror } = measured;
  const images = (products: number) => products * photosPerProduct;
  const megabytes = (of: (count: number) => number) => (count: number) => size(of(count) * 1e6);
  const ofLooks = megabytes(line(tryon.memory));
  const ofRows = megabytes(line(imported.memory));
  const ofImages = megabytes(line(mirror.memory));
  const undoTime = (products: number) =>
    duration(Math.max(reading(products * undo.reads), writing(products * undo.writes)));
  return `${[
    "# Scale",
    "",
    "This page says what each flow takes with 10,000, 1,000,000 and 10,000,000 products, what is not possible with so many, and what to",
    "do instead. `npm run scale` computes it from [measured numbers](#measured-numbers) and the limits of the service.",
    "",
    `A product has ${photosPerProduct} photos here. A night is ${nightHours} hours, and changes ${nightShare * 1000} of 1,000 products and adds as many. Times are the`,
    `least that ${readsPerMinute} reads and ${writesPerMinute} writes per minute allow. All programs of an organization share these limits, and a night has`,
    `${grouped(nightHours * 60 * readsPerMinute)} reads and ${grouped(nightHours * 60 * writesPerMinute)} writes. What the service itself needs comes on top: how long it fetches photos and generates`,
    "images is not known.",
    "",
    "## Times",
    "",
    ...table(header("flow", "one write or read for"), [
      bySize(
        "import of everything, photos by URL",
        (n) => duration(writing(batches(n))),
        `${grouped(importRows.max)} rows`,
      ),
      bySize(
        "import of everything, local photos",
        (n) => duration(writing(images(n) + batches(n))),
        "a photo",
      ),
      bySize(
        "import of a night's changes",
        (n) => duration(writing(changedIn(n) + batches(changedIn(n)))),
        "an edited product",
      ),
      bySize("undo of a night", (n) => undoTime(2 * changedIn(n)), "a product"),
      bySize("undo of everything", (n) => undoTime(n), "a product"),
      bySize(
        "one try-on per product",
        (n) => duration(writing(n / tryonInputs.max)),
        `${tryonInputs.max} images`,
      ),
      bySize(
        "search for missing try-ons",
        (n) => duration(reading(2 * pages(n))),
        `${page.max} products, twice`,
      ),
      bySize(
        "export of everything, mirror by one process",
        (n) => duration(reading(pages(n))),
        `${page.max} products`,
      ),
      bySize(
        "mirror by four shards, complete read",
        (n) => duration(reading(4 * pages(n))),
        `${page.max} products, in each shard`,
      ),
      bySize(
        "export of a night's changes, mirror likewise",
        (n) => duration(reading(pages(2 * changedIn(n)))),
        `${page.max} products`,
      ),
      bySize(
        "nightly mirror by four shards",
        (n) => duration(reading(4 * (1 + pages(2 * changedIn(n))))),
        `${page.max} products, in each shard`,
      ),
    ]),
    "",
    "Requests for images are not limited: their signed URLs are outside the API.",
    "",
    "## Import",
    "",
    ...table(header("what"), [
      bySize("writes, photos by URL", (n) => grouped(batches(n))),
      bySize("writes, local photos", (n) => grouped(images(n) + batches(n))),
      bySize("writes of an undo of everything", (n) => grouped(n * undo.writes)),
      bySize("nights, local photos", (n) => grouped(nights(writing(images(n) + batches(n))))),
      bySize("writes of a night's changes", (n) => grouped(changedIn(n) + batches(changedIn(n)))),
      bySize("sheet as CSV", (n) => size(n * imported.sheetRow)),
      bySize("state on disk", (n) => size(n * imported.stateRow)),
      bySize("more state for each night, kept for 30 days or 10 imports", (n) =>
        size(2 * changedIn(n) * imported.nightRow),
      ),
      bySize("memory", ofRows),
    ]),
    "",
    "An edited product is one write: an upsert would add its photos again. A night has room for",
    `${grouped(nightHours * 60 * writesPerMinute)} edits, which is 1 product in ${grouped(Math.floor(sizes[2] / (nightHours * 60 * writesPerMinute)))} of ${grouped(sizes[2])}. Reads follow the imports: one every`,
    "5 seconds for each of at most 20 batches in progress.",
    "",
    "## Try-ons",
    "",
    ...table(header("what"), [
      bySize("images, each of which costs credits", (n) => grouped(n)),
      bySize("writes", (n) => grouped(Math.ceil(n / tryonInputs.max))),
      bySize("reads while they are generated", (n) =>
        grouped(Math.ceil((n / 1000) * tryon.readsPerThousand)),
      ),
      bySize("nights", (n) => grouped(nights(writing(n / tryonInputs.max)))),
      bySize("reads of `--missing`", (n) => grouped(2 * pages(n))),
      bySize("state on disk", (n) => size(n * tryon.state)),
      bySize("memory for one file with all", ofLooks),
    ]),
    "",
    "The search is for more than 5,000 products; for fewer, `--missing` reads manifests instead of the second list.",
    "",
    "## Exports and mirrors",
    "",
    ...table(header("what"), [
      bySize("reads of a complete export, or of a mirror by one process", (n) => grouped(pages(n))),
      bySize("the same by four shards", (n) => grouped(4 * pages(n))),
      bySize("reads of a night by four shards", (n) => grouped(4 * (1 + pages(2 * changedIn(n))))),
      bySize("`cat export --out FILE.ndjson`", (n) => size(n * rows.ndjson)),
      bySize("sheet of `cat products export`", (n) => size(n * rows.sheet)),
      bySize("writes of `--zip` or `--manifest`", (n) => grouped(Math.ceil(n / limits.exportProducts))),
      bySize("images in a mirror, files and inodes", (n) => grouped(images(n))),
      bySize("images of 100 kB", (n) => size(images(n) * 100_000)),
      bySize("images of 1 kB, in blocks of 4 kB", (n) => size(images(n) * 4_096)),
      bySize("indexes of the shards, and the joined one", (n) => size(2 * images(n) * mirror.indexLine)),
      bySize("tables of the shards", (n) => size(images(n) * mirror.tableRow)),
      bySize("processor time of the first run", (n) => duration((images(n) * mirror.cpuMs) / 60_000)),
      bySize("memory of each of four shards", (n) => ofImages(images(n) / 4)),
    ]),
    "",
    "In a bucket, each image is one `PUT` instead of a file. [Exports](exports.md#mirrors-by-many-machines) has the requests and",
    "prices for 10 million images. A night with changes reads the indexes of all other shards as well.",
    "",
    "## Events",
    "",
    ...table(header("one event per product"), [
      bySize("log of `cat webhooks listen`", (n) => size(n * event.bytes)),
      bySize("reads of `--poll`", (n) => grouped(pages(n))),
    ]),
    "",
    "`--poll` adds 12 reads per minute, which is 2% of the limit.",
    "",
    "## What changes the picture",
    "",
    ...table(
      ["means", "what it saves", "what it costs"],
      [
        [
          "photos by URL instead of files",
          "one write per photo",
          "the files must be on a public host for 24 hours",
        ],
        [
          "[edits](resuming.md#changing-products-in-a-spreadsheet) in the sheet that was exported",
          "writes of cells that you did not change",
          "–",
        ],
        [
          "`--since last`",
          "reads of products that did not change",
          "photos that were detached are not listed",
        ],
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
          "folders of millions of files, which some tools and file systems do not support",
          "–",
        ],
        ["`cat import --limit N`", "the rest of a file that is too long for one night", "–"],
        ["`--max-changes`, `--plan`", "an undo that would take days", "the reads of the plan"],
      ],
    ),
    "",
    "Use shards only while downloads take longer than reads. Without shards a mirror makes the fewest requests.",
    "",
    "## Not possible",
    "",
    ...table(
      ["with", "what", "instead"],
      [
        [
          million(1),
          `local photos: ${duration(writing(images(sizes[1])))} of uploads`,
          "put them on a host, and use URLs",
        ],
        [
          million(1),
          `undo of everything: ${undoTime(sizes[1])}`,
          "import a part first (`--limit`), and check it",
        ],
        [
          million(1),
          `one file of try-ons: ${ofLooks(sizes[1])} of memory`,
          `files of 100,000 rows: ${ofLooks(100_000)} each`,
        ],
        [
          million(10),
          `an edit of every product in one night: ${duration(writing(sizes[2]))}`,
          "spread edits over weeks; a night has room for 28,800",
        ],
        [
          million(10),
          `a complete read by four shards in one night: ${duration(reading(4 * pages(sizes[2])))}`,
          "`--full-every 0`, and a weekend for `--full`; or one process",
        ],
        [
          million(10),
          `a try-on of every product: ${duration(writing(sizes[2] / tryonInputs.max))}`,
          "begin with the newest products",
        ],
        [
          million(10),
          `the mock: \`--demo\` makes ${grouped(optionRanges.demo.max)} products at most`,
          "measure a tenth",
        ],
      ],
    ),
    "",
    "## A run with a million products",
    "",
    ...millionRun(measured.million),
    "",
    "## Measured numbers",
    "",
    "A count between two measured ones, or above them, is on a straight line through both.",
    "",
    ...table(["number", "value", "measured by"], sources(measured)),
    "",
  ].join("\n")}`;
}

const million = (count: number): string => `${count} million products`;

function millionRun({ phases, images, bytes, mock }: Measured["million"]): string[] {
  return [
    `\`npm run bench -- million-mirror\` mirrors ${grouped(sizes[1])} products of the mock, with ${grouped(images)} photos of 1 kB, by four`,
    "processes at once into one folder. One of them is killed with `kill -9` after 800,000 images, and started again.",
    "",
    ...table(
      ["part", "memory of each process", "processor time of all", "lists", "images", "real time"],
      phases.map(({ what, memory, cpuSeconds, lists, downloads, seconds }) => [
        what,
        `${memory.join(", ")} MB`,
        duration(cpuSeconds / 60),
        grouped(lists),
        grouped(downloads),
        duration(seconds / 60),
      ]),
    ),
    "",
    `The folder then has ${size(bytes.images)} of images, which take ${size(bytes.blocks)}, ${size(bytes.indexes)} of indexes and ${size(bytes.tables)} of tables. The mock took ${duration(mock.cpuSeconds / 60)} of`,
    `processor time and ${size(mock.memory * 1e6)} of memory. The machine has two cores, which other programs used too: compare the processor time,`,
    "not the real time. There was no rate limit.",
    "",
    "A script that shares no code with the program compared the folder with the service: each image has one index line and one",
    "file, whose bytes are those of the service. Nothing was lost, doubled, or left over.",
  ];
}

const sources = ({ imported, undo, tryon, rows, event, mirror }: Measured): Row[] => {
  const flows = "`node bench/million/flows.js 10000`";
  const points = (points: Line, thing: string) =>
    points.map(([count, megabytes]) => `${megabytes} MB with ${grouped(count)} ${thing}`).join(", ");
  return [
    ["row of a sheet with two URLs", `${imported.sheetRow} bytes`, flows],
    ["state of an import, per row", `${imported.stateRow} bytes`, flows],
    ["state of a night, per changed row", `${imported.nightRow} bytes`, "the database after six nights"],
    ["memory of an import", points(imported.memory, "rows"), `${flows}, \`npm run bench -- import-million\``],
    ["requests of an undo, per product", `${undo.reads} reads, ${undo.writes} write`, flows],
    ["state of try-ons, per image", `${tryon.state} bytes`, flows],
    [
      "reads of 1,000 try-ons that take 9 seconds each",
      String(tryon.readsPerThousand),
      "`npm run bench -- tryons`",
    ],
    ["memory of one file of try-ons", points(tryon.memory, "images"), flows],
    ["row of an export, with two images", `${rows.ndjson} bytes`, flows],
    ["row of an exported sheet", `${rows.sheet} bytes`, flows],
    ["event in a log", `${event.bytes} bytes`, flows],
    ["line of an index", `${mirror.indexLine} bytes`, "the run above"],
    ["row of a table, with its indexes", `${mirror.tableRow} bytes`, "the run above"],
    ["memory of a shard", points(mirror.memory, "images"), "the run above, and one of 20,000 products"],
    ["processor time of an image in a first run", `${mirror.cpuMs} ms`, "the run above"],
  ];
};
