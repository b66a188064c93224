import type { Imports } from "./imports.ts";
import { type Module, modules } from "./modules.ts";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The modules that each module imports. */
export function moduleGraph(imports: ReadonlyMap<string, Imports>): Graph {
  const moduleOf = (file: string) => modules.find(({ files }) => files.test(file))?.name;
  const graph = new Map(modules.map(({ name }) => [name, new Set<string>()]));
  for (const [file, { values, types }] of imports) {
    const from = moduleOf(file);
    if (from === undefined) throw new Error(`no module of the picture has ${file}`);
    for (const path of [...values, ...types]) {
      const to = moduleOf(path);
      if (to !== undefined && to !== from) graph.get(from)!.add(to);
    }
  }
  return graph;
}

/** Without arrows that a longer way over other modules implies. */
function essential(graph: Graph): Graph {
  const reached = (from: string): ReadonlySet<string> => {
    const found = new Set(graph.get(from));
    for (const name of found) for (const next of graph.get(name)!) found.add(next);
    return found;
  };
  const below = new Map([...graph.keys()].map((name) => [name, reached(name)]));
  return new Map(
    [...graph].map(([from, to]) => [
      from,
      new Set([...to].filter((name) => ![...to].some((other) => below.get(other)!.has(name)))),
    ]),
  );
}

/** The floor of each module, from the top: one below the lowest that imports it. */
function floors(graph: Graph): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  const floorOf = (name: string, below: readonly string[]): number => {
    if (below.includes(name)) throw new Error(`cycle of modules: ${[...below, name].join(" < ")}`);
    const importers = [...graph.keys()].filter((from) => graph.get(from)!.has(name));
    const floor =
      known.get(name) ?? Math.max(-1, ...importers.map((from) => floorOf(from, [...below, name]))) + 1;
    known.set(name, floor);
    return floor;
  };
  for (const name of graph.keys()) floorOf(name, []);
  return known;
}

const box = { width: 160, height: 46, gapX: 20, gapY: 42 };
const margin = 16;

/** A box, or a gap in a floor through which an arrow passes. */
interface Slot {
  readonly module: Module | null;
  readonly width: number;
  readonly above: Slot[];
  readonly floor: number;
  /** Its middle. */
  x: number;
}

/** The boxes by floor, and each arrow as the slots that it leads through. */
function toSlots(graph: Graph): { rows: Slot[][]; arrows: Slot[][] } {
  const floorOf = floors(graph);
  const boxes = new Map(
    modules.map((module): [string, Slot] => {
      const floor = floorOf.get(module.name)!;
      return [module.name, { module, width: box.width, above: [], floor, x: 0 }];
    }),
  );
  const rows: Slot[][] = Array.from({ length: Math.max(...floorOf.values()) + 1 }, () => []);
  for (const slot of boxes.values()) rows[slot.floor]!.push(slot);
  const arrows = [...graph].flatMap(([from, to]) =>
    [...to].sort().map((name) => {
      const way = [boxes.get(from)!];
      for (let floor = way[0]!.floor + 1; floor < floorOf.get(name)!; floor++) {
        const gap = { module: null, width: 8, above: [way.at(-1)!], floor, x: 0 };
        rows[floor]!.push(gap);
        way.push(gap);
      }
      const end = boxes.get(name)!;
      end.above.push(way.at(-1)!);
      return [...way, end];
    }),
  );
  return { rows, arrows };
}

/** Orders each floor below what it is imported by, and centers it. Returns the width of the picture. */
function place(rows: readonly Slot[][]): number {
  const widthOf = (row: readonly Slot[]) => row.reduce((sum, slot) => sum + slot.width + box.gapX, -box.gapX);
  const width = Math.max(...rows.map(widthOf)) + 2 * margin;
  for (const row of rows) {
    const middle = ({ above }: Slot) =>
      above.length === 0 ? width / 2 : above.reduce((sum, { x }) => sum + x, 0) / above.length;
    row.sort((a, b) => middle(a) - middle(b));
    let left = (width - widthOf(row)) / 2;
    for (const slot of row) {
      slot.x = Math.round(left + slot.width / 2);
      left += slot.width + box.gapX;
    }
  }
  return width;
}

const topOf = (floor: number) => margin + floor * (box.height + box.gapY);

/** The line of an arrow: bent between floors, straight through them. */
function toLine(way: readonly Slot[]): string {
  const parts = way.slice(1).map((to, at) => {
    const from = way[at]!;
    const start = topOf(from.floor) + box.height;
    const end = topOf(to.floor) - (to.module === null ? 0 : 5);
    const bend = (end - start) / 2;
    const curve = `C${from.x} ${start + bend} ${to.x} ${end - bend} ${to.x} ${end}`;
    return to.module === null ? `${curve}V${end + box.height}` : curve;
  });
  return `<path d="M${way[0]!.x} ${topOf(way[0]!.floor) + box.height} ${parts.join("")}"/>`;
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function toBox({ module, x, floor }: Slot): string {
  if (module === null) return "";
  const half = box.width / 2;
  const name = `<text x="${half}" y="19" class="name">${escaped(module.name)}</text>`;
  const text = `<text x="${half}" y="36">${escaped(module.text)}</text>`;
  const rect = `<rect width="${box.width}" height="${box.height}" rx="6"/>`;
  return `<g transform="translate(${x - half} ${topOf(floor)})">${rect}${name}${text}</g>\n`;
}

/** The picture of the modules: an arrow leads to what a module imports, and always down. */
export function drawModules(imports: ReadonlyMap<string, Imports>): string {
  const graph = moduleGraph(imports);
  // Throws for a cycle, whose arrows would not be drawn.
  floors(graph);
  const { rows, arrows } = toSlots(essential(graph));
  const width = place(rows);
  const height = topOf(rows.length) - box.gapY + margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The modules of src/, and what each imports</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#64748b"/></marker></defs>
<style>rect{fill:#f8fafc;stroke:#475569}text{font:11px sans-serif;fill:#475569;text-anchor:middle}.name{font:bold 13px sans-serif;fill:#0f172a}</style>
<rect width="${width}" height="${height}" style="fill:#fff;stroke:none"/>
<g fill="none" stroke="#94a3b8" stroke-width="1.2" marker-end="url(#head)">
${arrows.map(toLine).join("\n")}
</g>
${rows.flat().map(toBox).join("")}</svg>
`;
}
