import { existsSync } from "node:fs";
import { summaryOf } from "../summary.ts";
import { diskEnv } from "../trouble.ts";
import { look } from "./day.ts";
import type { Ended, Machine } from "./machine.ts";
import { count, type Scene } from "./scene.ts";
import { writeSheet } from "./sheet.ts";
import { angles, isDoomed } from "./shop.ts";
import type { StepName, Trouble } from "./troubles.ts";

/** A command that did not end as it must. */
export class WrongEndError extends Error {}

const minute = 60_000;

const measuredSteps: readonly StepName[] = ["import", "mirror", "coverage", "tryon"];

/** The commands of one night, and what meets them. */
export class Night {
  readonly #scene: Scene;
  readonly #trouble: Trouble;
  readonly #isMonthEnd: boolean;

  constructor(scene: Scene, trouble: Trouble, isMonthEnd: boolean) {
    this.#scene = scene;
    this.#trouble = trouble;
    this.#isMonthEnd = isMonthEnd;
  }

  async play(): Promise<void> {
    const { server, sheet, mock, shop } = this.#scene;
    const { kind } = this.#trouble;
    count(this.#scene, `nights_${kind.replaceAll(" ", "_")}`);
    if (kind === "expired key") return this.#rejected();
    if (kind === "lost state") {
      server.forgetAll();
      shop.forget();
    }
    if (this.#trouble.kind === "skewed clock") server.aheadMs = this.#trouble.aheadMs;
    if ("faults" in this.#trouble) for (const fault of this.#trouble.faults) mock.faults.add(fault);
    const isMonthEnd = this.#isMonthEnd;
    if (this.#scene.polls.length === 0 || kind === "lost state") await this.#poll(true);
    await this.#import();
    if (isMonthEnd) await this.#undo();
    writeSheet(server, sheet.rows);
    await this.#createAgain();
    await this.#delete();
    if (existsSync(server.at("mirror/decisions.csv")))
      await this.#step("review", ["tasks", "review", "mirror/decisions.csv", "--json"]);
    // After a night without an import, more is gone than a tenth of a small mirror.
    const deletes = ["--delete", "--max-delete", "60"];
    const full = isMonthEnd ? ["--full"] : [];
    await this.#step("mirror", ["export", "sync", "mirror", "--approved", ...deletes, "--json", ...full]);
    await this.#generate();
    for (const shard of [1, 2] as const) {
      const flags = ["--shard", `${shard}/2`, "--path-style", ...deletes, "--json", ...full];
      await this.#step(`shard ${shard}`, ["export", "sync", "s3://shop/year", ...flags]);
    }
    await this.#poll();
    mock.faults.clear();
    server.aheadMs = 0;
  }

  /** The key is rejected: every command ends at once, and the next night has a new one. */
  async #rejected(): Promise<void> {
    const { server, mock } = this.#scene;
    await putKey(this.#scene, server.key, { revoked: true });
    // The service keeps what it knows of a key for a minute (Authentication).
    await mock.clock.advance(2 * minute);
    for (const argv of [
      ["import", "sheet.csv", "--json"],
      ["export", "sync", "mirror", "--approved", "--json"],
    ]) {
      const ended = await server.cat(argv);
      if (ended.status !== 4) throw wrongEnd(argv, ended);
    }
    server.key = `ak_server_${this.#scene.counts.nights_expired_key}`;
    await putKey(this.#scene, server.key, {});
  }

  async #import(): Promise<void> {
    const { server, sheet, shop, conflicts } = this.#scene;
    const rows = this.#isMonthEnd ? sheet.mistaken() : sheet.rows;
    writeSheet(server, rows);
    this.#takeBack = shop.import(rows, conflicts);
    await this.#step("import", ["import", "sheet.csv", "--conflicts", conflicts, "--json"]);
  }

  #takeBack: () => void = () => {};
  /** The runs of the sheet's import in this night. */
  readonly #runs = new Set<string>();

  async #undo(): Promise<void> {
    this.#takeBack();
    count(this.#scene, "undos");
    const { isEarlier } = this.#scene.site.program;
    const runs = [...this.#runs].reverse();
    for (const run of runs.length > 1 || isEarlier ? runs : ["last"])
      await this.#step("undo", ["imports", "undo", run, "--yes", "--json"]);
  }

  /** A row that came back, and whose product was deleted, is no edit: it is imported alone, as the truth. */
  async #createAgain(): Promise<void> {
    const { server, sheet, shop } = this.#scene;
    const back = sheet.back.filter(({ reference }) => !shop.products.has(reference));
    if (back.length === 0) return;
    for (const row of back) shop.create(row);
    count(this.#scene, "back", back.length);
    writeSheet(server, back, "back.csv");
    await this.#step("back", ["import", "back.csv", "--exact", "--json"]);
  }

  /** Deletes the products whose rows are gone. */
  async #delete(): Promise<void> {
    const { server, sheet, shop } = this.#scene;
    const listed = new Set(sheet.rows.map(({ reference }) => reference));
    const gone = [...shop.products.keys()].filter(
      (reference) => !listed.has(reference) && !reference.startsWith("OTHER-"),
    );
    if (gone.length === 0) return;
    server.write("withdrawn.csv", ["reference", ...gone].join("\n"));
    for (const reference of gone) shop.delete(reference);
    // What a killed command has deleted is not found by the next one.
    await this.#step(
      "delete",
      ["products", "delete", "--from", "withdrawn.csv", "--yes", "--json"],
      [0],
      [0, 5],
    );
  }

  async #generate(): Promise<void> {
    const { shop, mock } = this.#scene;
    const looks = ["--model", look.model, "--background", look.background];
    const sheet = ["--looks", "looks.csv", ...looks, ...angles.flatMap((angle) => ["--angle", angle])];
    await this.#step("coverage", ["products", "coverage", ...sheet, "--yes", "--json"]);
    const failing = [...shop.products.values()].some(
      ({ reference, shots }) =>
        isDoomed(reference) && angles.some((angle) => shots[angle].every(({ failed }) => failed)),
    );
    const missing = shop.generateMissing();
    if (missing === 0) return;
    count(this.#scene, "generated", missing);
    const argv = ["tryon", "looks.csv", "--missing", "--yes", "--max-generations", "60", "--json"];
    if (this.#trouble.kind === "credits out") {
      const had = mock.credits!;
      const left = this.#scene.random.below(missing);
      mock.credits = left;
      const ended = await this.#scene.server.cat(argv);
      if (ended.status !== 4) throw wrongEnd(argv, ended);
      mock.credits = had - left + mock.credits!;
    }
    await this.#step("tryon", argv, failing ? [8] : [0], failing ? [0, 8] : [0]);
  }

  /** Polls events; the first time, and without a state, those of tasks that end from then on. */
  async #poll(isFirst = false): Promise<void> {
    const { server, polls, clock } = this.#scene;
    if (isFirst) polls.push({ from: clock.now(), to: 0 });
    const log = ["--log", server.at("poll.ndjson")];
    // It exits with 7 once its time is over.
    await this.#step("poll", ["webhooks", "listen", "--poll", ...log, "--timeout", "30s", "--json"], [7]);
    polls.at(-1)!.to = clock.now();
  }

  /** Runs a command until it ends as it must; the first time, the trouble of the night meets it. */
  async #step(name: StepName, argv: readonly string[], ok = [0], okLater = ok): Promise<Ended> {
    const { server, mock } = this.#scene;
    const trouble = this.#trouble;
    const isMet = "step" in trouble && trouble.step === name;
    for (let tries = 0; ; tries++) {
      const runs = isMet && tries === 0 ? () => this.#disturbed(server, argv) : this.#runner(name);
      const ended = await runs(argv);
      if (name === "import") this.#addRun(ended);
      if ((tries === 0 ? ok : okLater).includes(ended.status!)) return ended;
      // A new key sees none of the products that a small mirror compares: they were deleted since.
      if (isOfNewKey(ended) && !argv.includes("--same-organization")) {
        count(this.#scene, "keys_confirmed");
        return this.#step(name, [...argv, "--same-organization"], ok, okLater);
      }
      const mayFail = isMet || "faults" in trouble || lacksImage(ended);
      if (!mayFail || tries === 4) throw wrongEnd(argv, ended);
      count(this.#scene, "repeated");
      if (tries === 2) mock.faults.clear();
      await mock.clock.advance(2 * minute);
    }
  }

  #addRun({ stdout }: Ended): void {
    const { run_id } = (summaryOf(stdout) ?? {}) as { run_id?: string };
    if (run_id !== undefined) this.#runs.add(run_id);
  }

  /** At a month's end, some commands run as processes of their own, whose memory is measured. */
  #runner(name: StepName): (argv: readonly string[]) => Promise<Ended> {
    const { server } = this.#scene;
    const isMeasured = this.#isMonthEnd && !("faults" in this.#trouble) && measuredSteps.includes(name);
    return isMeasured ? (argv) => server.start(argv) : (argv) => server.cat(argv);
  }

  /** Runs a command in a process of its own, which is killed, or has a full disk. */
  async #disturbed(server: Machine, argv: readonly string[]): Promise<Ended> {
    const trouble = this.#trouble;
    if (trouble.kind === "full disk") return server.start(argv, { env: diskEnv(trouble.disk) });
    if (trouble.kind !== "kill") return server.cat(argv);
    let kill = () => {};
    const ended = server.start(argv, {
      onStart: (running) => {
        kill = running.kill;
      },
    });
    let left = trouble.nth;
    this.#scene.site.onRequest = () => {
      if (--left === 0) setTimeout(kill, trouble.waitMs);
    };
    const result = await ended;
    this.#scene.site.onRequest = null;
    if (result.status === null) count(this.#scene, "kills");
    return result;
  }
}

/** A photo of a product that was deleted a week ago is no longer at the service: the next import uploads it again. */
const lacksImage = ({ status, stdout }: Ended): boolean =>
  status === 8 && Number(summaryOf(stdout)?.failed ?? 0) > 0;

const isOfNewKey = ({ status, stderr }: Ended): boolean => status === 6 && stderr.includes("another_key");

function wrongEnd(argv: readonly string[], { status, stdout, stderr }: Ended): WrongEndError {
  const said = `${stderr}${stdout}`.trim().slice(0, 1500);
  return new WrongEndError(`cat ${argv.join(" ")} exited with ${status}: ${said}`);
}

export async function putKey({ mock }: Pick<Scene, "mock">, key: string, order: object): Promise<void> {
  const { ok, status } = await fetch(`${mock.baseUrl}/_mock/keys/${key}`, {
    method: "PUT",
    body: JSON.stringify(order),
  });
  if (!ok) throw new Error(`the key ${key} was not changed: ${status}`);
}
