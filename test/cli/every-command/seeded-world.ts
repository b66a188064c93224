import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { onTestFinished } from "vitest";
import { readState, startMock } from "../../../src/mock/index.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type CallOptions, createWorld, type Ran } from "../../support/world.ts";
import type { Ids } from "./command-lines.ts";
import { serviceInFront } from "./service-in-front.ts";

/** The secrets that no command may show, apart from those that the service creates. */
export const canary = {
  key: "ak_canary_0123456789abcdefWXYZ",
  signing: "whsec_canary0123456789abcdef",
  /** Of a signed URL. */
  signature: "c0ffee0123456789c0ffee",
} as const;

/**
 * A service with one resource of each kind and a failed one, files for each command, and the state of a machine that
 * has sent them. Each command starts from there, in a folder of its own.
 */
export async function seededWorld({ columns = 80 }: { columns?: number } = {}) {
  const first = await createWorld({ mock: { rateLimit: false }, columns });
  const front = await serviceInFront(first.mock.baseUrl);
  const settings = {
    CAT_BASE_URL: front.origin,
    CAT_API_KEY: canary.key,
    CAT_WEBHOOK_SECRET: canary.signing,
  };
  const cat = async (line: string, exit = 0) => {
    const ran = await first.cat(line, { env: settings });
    if (ran.exit !== exit) throw new Error(`${line}: exit ${ran.exit}\n${ran.stderr}`);
    return ran.stdout;
  };
  const photo = sharp({ create: { width: 8, height: 8, channels: 3, background: "#a08050" } });
  first.write("photo.png", await photo.png().toBuffer());
  first.write("body.json", "{}");
  first.write("state.json", JSON.stringify(first.mock.state()));
  first.write("references.txt", "A-1\n");
  const image = "https://cdn.example.com";
  first.write(
    "a.csv",
    `reference,name,images\nB-1,Dress,${image}/1.jpg\nB-2,Coat,${image}/fail-timeout.jpg\n`,
  );
  first.write(
    "seed.csv",
    `reference,name,images\nA-1,Dress,${image}/1.jpg\nA-fail-unsafe_output,Coat,${image}/2.jpg\nA-3,Hat,${image}/4.jpg|${image}/5.jpg\n`,
  );
  first.write(
    "looks.csv",
    "product_reference,model_id,background,angle_shot\nA-1,Amara,studio,full-front\nA-fail-unsafe_output,Amara,studio,full-front\n",
  );
  first.write("packshots.csv", "product_reference,subtype,background,angle_shot\nA-1,clothing,white,front\n");

  await cat("config set baseUrl https://imaging.example.com --profile other");
  await cat("config set label staging");
  const imported = JSON.parse(await cat("import seed.csv --json"));
  const tried = JSON.parse(await cat("tryon looks.csv --yes --json --results decisions.csv", 8));
  await cat("export --manifest --out m.jsonl --quiet");
  await cat("export --zip --out z.zip --quiet");
  const webhook = JSON.parse(
    await cat("webhooks create --url https://hooks.example.com/a --events all --json"),
  );
  // The import of another file ends while nobody looks, so that the listener has an event.
  first.write("later.csv", `reference,name,images\nC-1,Dress,${image}/3.jpg\n`);
  await cat("import later.csv --no-wait --quiet");
  const [, event] = (
    await cat("webhooks listen --poll --wait import.completed --json --port 0 --log events.ndjson")
  )
    .split("\n")
    .map((line) => JSON.parse(line || "null"));
  const products = first.products();
  const two = products.find(({ reference }) => reference === "A-3")!;
  const exported = (await cat("exports list --all --format ndjson")).split("\n")[0]!;
  const ids: Ids = {
    products: products[0]!.id,
    images: products[0]!.images[0]!.id,
    twoPhotos: two.id,
    secondImage: two.images[1]!.id,
    imports: imported.imports[0].id,
    tasks: tried.tasks[0].id,
    exports: JSON.parse(exported).id,
    webhooks: webhook.id,
    run: tried.run_id,
    event: event.id,
  };
  cpSync(join(first.folder, "events.ndjson"), join(first.folder, ".home/state/default.events.ndjson"));
  const list = await listedCommands();

  // Its reset restores the state of now.
  const mock = await startMock({
    state: readState(first.mock.state()),
    clock: first.clock,
    rateLimit: false,
  });
  onTestFinished(() => mock.stop());
  front.target = mock.baseUrl;
  const machine = temporaryFolder();
  for (const made of ["m.jsonl", "z.zip"]) rmSync(join(first.folder, made));
  cpSync(first.folder, machine, { recursive: true });
  let number = 0;
  return {
    front,
    ids,
    list,
    keychain: first.keychain,
    clock: first.clock,
    /** Runs a command line in a copy of the folder, against the restored service. */
    async run(line: readonly string[], call: CallOptions = {}): Promise<Finished> {
      mock.reset();
      const folder = join(first.folder, `run-${++number}`);
      cpSync(machine, folder, { recursive: true });
      const running = first.cat(line, {
        ...call,
        env: { ...settings, CAT_HOME: join(folder, ".home"), PATH: process.env.PATH, ...call.env },
        context: { cwd: folder, ...call.context },
      });
      return Object.assign(await running, { folder });
    },
  };
}

/** The result of a command, and the folder that it worked in. */
export interface Finished extends Ran {
  readonly folder: string;
}

export type SeededWorld = Awaited<ReturnType<typeof seededWorld>>;
