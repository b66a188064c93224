import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MergeModel, type ModelProduct, type ModelRow, sides } from "../../test/flows/import/merge-model.ts";
import { type Lane, onEmptyLane } from "../lane.ts";
import { meetTrouble } from "../meet-trouble.ts";
import type { Played } from "../played.ts";
import { Running } from "../program.ts";
import type { ImportFault } from "./compare.ts";
import { photoBytes } from "./files.ts";
import type { Step } from "./step.ts";
import { type ClientChange, editedRows, type Story, type StoryStep } from "./story.ts";

type PlayedImport = Played<Step, ImportFault["kind"]>;

/** A product at the service: its photos are `CONTENT SIDE`. */
interface Shown {
  readonly name: string;
  readonly description: string;
  readonly photos: readonly string[];
}

/** Photos that no sheet has. */
const others = ["91", "92"];
const contentOf = new Map(
  ["1", "2", "3", "4", ...others].map((number) => [photoBytes(Number(number)).toString("base64"), number]),
);

/** Plays a story on a lane with the program in that file, and compares the service with the model after each import. */
export const playStory = (
  { seed, story }: { seed: string; story: Story },
  lane: Lane<Step>,
  program: string,
): Promise<PlayedImport> =>
  onEmptyLane(lane, (folder) => new Telling(story, lane, program, folder).play(seed));

class Telling {
  readonly #lane: Lane<Step>;
  readonly #program: string;
  readonly #folder: string;
  readonly #story: Story;
  readonly #model = new MergeModel();
  readonly #faults: ImportFault[] = [];
  readonly #kills: PlayedImport["kills"][number][] = [];
  /** The rows that a machine has said before: it knows what its user edited since. */
  readonly #said = new Set<string>();
  #rows: readonly ModelRow[];
  #restarts = 0;

  constructor(story: Story, lane: Lane<Step>, program: string, folder: string) {
    this.#story = story;
    this.#rows = story.rows;
    this.#lane = lane;
    this.#program = program;
    this.#folder = folder;
  }

  async play(seed: string): Promise<PlayedImport> {
    mkdirSync(join(this.#folder, "photos"));
    for (const [bytes, number] of contentOf)
      writeFileSync(join(this.#folder, `photos/${number}.png`), Buffer.from(bytes, "base64"));
    let imports = 0;
    for (const step of this.#story.steps) {
      if (step.do === "client") await this.#changeAsClient(step.change);
      else {
        imports++;
        if (!(await this.#import(step))) break;
      }
    }
    const photos = [...this.#model.products.values()].reduce((sum, one) => sum + one.photos.length, 0);
    const counts = {
      ...{ rows: this.#rows.length, photos, service_restarts: this.#restarts, ended_unheard: 0 },
      ...{ imports_of_stories: imports },
    };
    return { seed, kills: this.#kills, counts, faults: this.#faults };
  }

  /** Imports the file through all troubles; whether the story goes on. */
  async #import(step: Extract<StoryStep, { do: "import" }>): Promise<boolean> {
    const { machine, exact, edits, troubles } = step;
    this.#rows = editedRows(this.#rows, edits);
    writeFileSync(join(this.#folder, "a.csv"), csvOf(this.#rows));
    const before = inWords(this.#model.products);
    let renamed: string | null = null;
    /** Whether it was while a process waited, which then went on to its end. */
    let isOvertaken = false;
    let isEnded = false;
    for (const trouble of troubles) {
      const resumed = this.#kills.length > 0;
      const { ending, stoppedAt, restarts, other } = await meetTrouble(trouble, this.#lane, {
        start: () => this.#start(machine, exact),
        atItsEnd: "reading results",
        starting: "starting",
        othersWrite: async () => {
          if (step.renamed === null || !(await this.#rename(step.renamed))) return;
          renamed = step.renamed;
          isOvertaken = true;
        },
      });
      isOvertaken &&= ending.status !== null && other === null;
      this.#restarts += restarts;
      if (ending.status === null) this.#kills.push({ step: stoppedAt!, resumed });
      const statuses = [ending.status, ...(other === null ? [] : [other.status])];
      isEnded = statuses.some((status) => status === 0 || status === 8);
      if (statuses.some((status) => status !== null && ![0, 6, 7, 8].includes(status)))
        this.#found("not resumable", `it exited with ${statuses.join()}: ${ending.stderr.trim()}`);
      if (trouble.restart === "between") {
        await this.#lane.service.restart();
        this.#restarts++;
      }
      if (isEnded) break;
      if (renamed !== null || step.renamed === null || trouble.overtaken) continue;
      await this.#lane.calm();
      await this.#lane.gate.quiet();
      if (await this.#rename(step.renamed)) renamed = step.renamed;
    }
    await this.#lane.calm();
    await this.#lane.gate.quiet();
    if (!isEnded) {
      const { status, stderr } = await this.#start(machine, exact).ended;
      if (status !== 0 && status !== 8)
        this.#found("not resumable", `it exited with ${status}: ${stderr.trim()}`);
    }
    const saidBefore = new Set(this.#said);
    for (const [at, ending] of this.#model.import(machine, this.#rows, { exact }).entries())
      if (ending !== "conflict" && ending !== "deleted")
        this.#said.add(`${machine} ${this.#rows[at]!.reference}`);
    const found = await this.#shown();
    const expected = inWords(this.#model.products);
    for (const reference of new Set([...before.keys(), ...expected.keys(), ...found.keys()])) {
      const [was, want, is] = [before, expected, found].map((all) => all.get(reference));
      const isTheirs = reference === renamed && !exact;
      if (reference !== renamed) this.#compare(reference, want, is);
      // Without a before, the sheet is what the user wants.
      else if (isTheirs && is?.name !== theirs && (isOvertaken || saidBefore.has(`${machine} ${reference}`)))
        this.#found("overwritten", `${reference} has the name ${is?.name} instead of ${theirs}`);
      else if (isTheirs && is !== undefined) this.#compareOpen(reference, [was, want], is);
    }
    return renamed === null && this.#faults.length === 0;
  }

  #compare(reference: string, want: Shown | undefined, is: Shown | undefined): void {
    if (want === undefined || is === undefined) {
      if (want !== is)
        this.#found(
          is === undefined ? "row lost" : "row doubled",
          `product ${reference} is ${is ? "there" : "missing"}`,
        );
      return;
    }
    for (const field of ["name", "description"] as const)
      if (want[field] !== is[field])
        this.#found("overwritten", `${reference} has the ${field} ${is[field]} instead of ${want[field]}`);
    if (want.photos.join() === is.photos.join()) return;
    const kind = is.photos.length > want.photos.length ? "photo doubled" : "photo lost";
    this.#found(kind, `${reference} has ${is.photos.join()} instead of ${want.photos.join()}`);
  }

  /** The row may be a conflict, or imported before: no photo is lost or doubled in either case. */
  #compareOpen(reference: string, ends: readonly (Shown | undefined)[], { photos }: Shown): void {
    const [was, want] = ends.map((one) => contentsOf(one?.photos ?? []));
    const own = contentsOf(photos);
    if (new Set(own).size < own.length) this.#found("photo doubled", `${reference} has ${photos.join()}`);
    const lost = was!.filter((one) => want!.includes(one) && !own.includes(one));
    if (lost.length > 0) this.#found("photo lost", `${reference} lacks ${lost.join()}`);
  }

  /** Not while the service works on an import: a row that it has accepted may have its turn after the name. */
  async #rename(reference: string): Promise<boolean> {
    const { imports } = (await this.#lane.service.state()).organizations.main;
    if (imports.some(({ status }) => status === "validating" || status === "processing")) return false;
    const product = (await this.#products()).find((one) => one.reference === reference);
    if (product === undefined) return false;
    await this.#ask("PATCH", `/v1/products/${product.id}`, { name: theirs });
    return true;
  }

  async #changeAsClient({ reference, what, pick }: ClientChange): Promise<void> {
    const own = this.#model.products.get(reference);
    const product = (await this.#products()).find((one) => one.reference === reference);
    if (own === undefined || product === undefined) return;
    const path = `/v1/products/${product.id}`;
    if (what === "delete") {
      await this.#ask("DELETE", path);
      this.#model.products.delete(reference);
    } else if (what === "name" || what === "description") {
      own[what] = ["Coat", "By others"][pick % 2]!;
      await this.#ask("PATCH", path, { [what]: own[what] });
    } else if (what === "attach") {
      const content = others.find((one) => !own.photos.some((photo) => photo.content === one));
      if (content === undefined) return;
      const side = sides[pick % 2]!;
      const form = new FormData();
      form.append(
        "file",
        new Blob([new Uint8Array(photoBytes(Number(content)))], { type: "image/png" }),
        "x.png",
      );
      const image_id = (await this.#ask("POST", "/v1/images", form)).id;
      await this.#ask("POST", `${path}/images`, { images: [{ image_id, orientation: side }] });
      own.photos.push(this.#model.photo(content, side));
    } else if (own.photos.length > 1) {
      const { content } = own.photos[pick % own.photos.length]!;
      for (const { id } of product.images.filter((one) => one.content === content))
        await this.#ask("DELETE", `${path}/images/${id}`);
      own.photos = own.photos.filter((photo) => photo.content !== content);
    }
  }

  async #products() {
    const { products, images } = (await this.#lane.service.state()).organizations.main;
    const contents = new Map(images.map(({ id, bytes }) => [id, contentOf.get(bytes ?? "") ?? "?"]));
    return products
      .filter(({ deleted_at }) => deleted_at === null)
      .map((product) => ({
        ...product,
        images: product.images.map((image) => ({ ...image, content: contents.get(image.id)! })),
      }));
  }

  async #shown(): Promise<Map<string, Shown>> {
    const all = (await this.#products()).map(({ reference, name, description, images }): [string, Shown] => {
      const photos = images.map(({ content, orientation }) => `${content} ${orientation}`).sort();
      return [reference!, { name, description: description ?? "", photos }];
    });
    return new Map(all);
  }

  #start(machine: string, exact: boolean): Running {
    const service = { CAT_BASE_URL: this.#lane.gate.url, CAT_API_KEY: "ak_mock" };
    const env = { CAT_HOME: join(this.#folder, `home-${machine}`), ...service };
    const args = ["import", "a.csv", "--json", ...(exact ? ["--exact"] : [])];
    return new Running(this.#program, args, { cwd: this.#folder, env });
  }

  async #ask(method: string, path: string, body?: object): Promise<{ id: string }> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const isForm = body instanceof FormData;
    const headers = { authorization: "Bearer ak_mock", ...(body && !isForm && { "content-type": type }) };
    const sent = body === undefined ? null : isForm ? body : JSON.stringify(body);
    const answer = await fetch(this.#lane.service.baseUrl + path, { method, headers, body: sent });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? { id: "" } : ((await answer.json()) as { id: string });
  }

  #found(kind: ImportFault["kind"], what: string): void {
    this.#faults.push({ kind, what });
  }
}

/** The name that another client gives between a kill and the next start. */
const theirs = "Theirs";

const contentsOf = (photos: readonly string[]): string[] => photos.map((photo) => photo.split(" ")[0]!);

const inWords = (products: ReadonlyMap<string, ModelProduct>): Map<string, Shown> =>
  new Map(
    [...products].map(([reference, { name, description, photos }]) => [
      reference,
      { name, description, photos: photos.map(({ content, side }) => `${content} ${side}`).sort() },
    ]),
  );

function csvOf(rows: readonly ModelRow[]): string {
  const path = (content: string) => (content === "" ? "" : `photos/${content}.png`);
  const lines = rows.map(({ reference, name, description, front, back }) =>
    [reference, name, description, path(front), path(back)].join(","),
  );
  return `${["reference,name,description,image_front,image_back", ...lines].join("\n")}\n`;
}
