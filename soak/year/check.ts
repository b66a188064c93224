import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mirrorFaults } from "../export/mirror-check.ts";
import { contentSource } from "../import/files.ts";
import { idOf, livesOf, type Scene, type StateNow, stateOf, tasksOf } from "./scene.ts";
import { angles, photoLine, productLine, type Shot } from "./shop.ts";

/** How the service, the mirrors and the events differ from the model, in sentences. */
export function differences(scene: Scene, isCheckNight: boolean): string[] {
  const state = stateOf(scene);
  const wrong = [...catalogueFaults(scene, state), ...imageFaults(scene, state), ...creditFaults(scene)];
  if (wrong.length > 0) return wrong;
  if (!isCheckNight) return unnamedObjects(scene);
  const approved = assetsOf(scene, state, ({ decision }) => decision === "approve");
  return [
    ...mirrorFaults(scene.server.at("mirror"), approved)
      .filter((what) => !what.endsWith("decisions.csv"))
      .map((what) => `mirror: ${what}`),
    ...bucketFaults(
      scene,
      assetsOf(scene, state, () => true),
    ),
    ...eventFaults(scene, state),
  ];
}

/** Lines that are missing, or too many. */
function compared(what: string, expected: readonly string[], found: readonly string[]): string[] {
  const balance = new Map<string, number>();
  for (const line of expected) balance.set(line, (balance.get(line) ?? 0) + 1);
  for (const line of found) balance.set(line, (balance.get(line) ?? 0) - 1);
  return [...balance]
    .filter(([, by]) => by !== 0)
    .map(
      ([line, by]) =>
        `${what}: ${by > 0 ? "missing" : "too many"}: ${line}${Math.abs(by) > 1 ? ` (${Math.abs(by)})` : ""}`,
    );
}

function catalogueFaults({ shop }: Scene, { products, images }: StateNow): string[] {
  const bytes = new Map(images.map((image) => [image.id, image.bytes]));
  const sourceOf = (id: string) => contentSource(Buffer.from(bytes.get(id) ?? "", "base64")).slice(-12);
  const found = products
    .filter(({ deleted_at }) => deleted_at === null)
    .map((product) =>
      productLine(
        product as never,
        product.images.map(({ id, orientation }) => `${sourceOf(id)}:${orientation}`),
      ),
    );
  const expected = [...shop.products.values()].map((product) =>
    productLine(
      product,
      [...product.photos].map(([photo, side]) => photoLine(photo, side)),
    ),
  );
  return compared("products", expected, found);
}

/** Images of each product that there ever was: none is paid for twice, and none is missing. */
function imageFaults({ shop }: Scene, state: StateNow): string[] {
  const lives = livesOf(state);
  const names = new Map(
    [...lives].flatMap(([reference, ids]) => ids.map((id, life) => [id, `${reference}#${life}`])),
  );
  const found = state.tasks.map(
    ({ product_id, scene, status }) => `${names.get(product_id)} ${scene.angle_shot} ${status}`,
  );
  const expected = shop.all.flatMap(({ reference, life, shots }) =>
    angles.flatMap((angle) =>
      shots[angle].map(({ failed }) => `${reference}#${life} ${angle} ${failed ? "failed" : "succeeded"}`),
    ),
  );
  return compared("images", expected, found);
}

export const startCredits = 1_000_000;

function creditFaults({ shop, mock }: Scene): string[] {
  const spent = shop.all.reduce(
    (sum, { shots }) => sum + angles.reduce((all, angle) => all + shots[angle].length, 0),
    0,
  );
  const is = startCredits - mock.credits!;
  return is === spent ? [] : [`credits: ${is} spent instead of ${spent}`];
}

/** The product and the ID of each photo, and of each generated image that counts. */
function assetsOf({ shop }: Scene, state: StateNow, isMirrored: (shot: Shot) => boolean): Set<string> {
  const lives = livesOf(state);
  const assets = new Set<string>();
  for (const product of shop.products.values()) {
    const id = idOf(lives, product);
    for (const image of state.products.find((one) => one.id === id)?.images ?? [])
      assets.add(`${id} ${image.id}`);
    for (const angle of angles) {
      const tasks = tasksOf(state, id, angle);
      for (const [at, shot] of product.shots[angle].entries())
        if (!shot.failed && isMirrored(shot)) assets.add(`${id} ${tasks[at]!.output_image_id}`);
    }
  }
  return assets;
}

interface Line {
  readonly path: string;
  readonly product_id: string;
  readonly asset_id: string;
  readonly sha256: string;
}

const linesOf = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const indexOf = (objects: Scene["store"]["objects"]): Line[] =>
  linesOf(objects.get("year/catalogue.ndjson")?.body.toString() ?? "") as Line[];

function bucketFaults(scene: Scene, assets: ReadonlySet<string>): string[] {
  const { objects } = scene.store;
  const lines = indexOf(objects);
  const wrong = compared(
    "bucket",
    [...assets],
    lines.map(({ product_id, asset_id }) => `${product_id} ${asset_id}`),
  );
  for (const { path, sha256 } of lines) {
    const body = objects.get(`year/${path}`)?.body;
    if (body === undefined || createHash("sha256").update(body).digest("hex") !== sha256)
      wrong.push(`bucket: ${path} has other bytes`);
  }
  return [...wrong, ...unnamedObjects(scene)];
}

/** Objects that the index does not know. */
function unnamedObjects({ store: { objects }, site, leftByEarlier }: Scene): string[] {
  const named = new Set(indexOf(objects).map(({ path }) => `year/${path}`));
  const isOwn = (key: string) =>
    key.startsWith("year/.catalogue/") || /^year\/(catalogue\.|decisions)/.test(key);
  const left = [...objects.keys()].filter((key) => !isOwn(key) && !named.has(key));
  if (site.program.isEarlier) for (const key of left) leftByEarlier.add(key);
  return left
    .filter((key) => !leftByEarlier.has(key))
    .map((key) => `bucket: no line of the index has ${key}`);
}

/** Every task and import that ended has one event. */
function eventFaults({ hooks, server, bens, polls }: Scene, state: StateNow): string[] {
  const ended = [
    ...state.tasks.map((task) => ({ ...task, type: "task" })),
    ...state.imports.map((one) => ({ ...one, type: "import" })),
  ];
  const line = ({ type, id, status }: (typeof ended)[number]) =>
    `${type}.${status.replace("_with_errors", "")} ${id}`;
  const isPolled = ({ id, finished_at }: (typeof ended)[number]) => {
    const at = Date.parse(finished_at!);
    return !bens.has(id) && polls.some(({ from, to }) => at >= from && at <= to);
  };
  return [
    ...compared("events", ended.map(line), eventsOf(hooks.at("events.ndjson"))),
    ...compared("polled events", ended.filter(isPolled).map(line), eventsOf(server.at("poll.ndjson"))),
  ];
}

function eventsOf(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = linesOf(readFileSync(path, "utf8")) as {
    id?: string;
    type?: string;
    data?: Record<string, { id: string }>;
  }[];
  return lines.flatMap(({ type, data }) =>
    type === undefined ? [] : [`${type} ${Object.values(data!)[0]!.id}`],
  );
}
