import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { photoBytes } from "../import/files.ts";
import type { Machine } from "./machine.ts";
import { count, idOf, livesOf, type Scene, stateOf, tasksOf } from "./scene.ts";
import { angles, type Product } from "./shop.ts";

export const look = { model: "mdl_001", background: "studio" };

/** What people do by day, at the service and in the model. */
export async function playDay(scene: Scene, isFirst: boolean): Promise<void> {
  const { random } = scene;
  const acts: readonly [share: number, act: (scene: Scene) => Promise<void>][] = [
    [0.7, review],
    [0.3, rename],
    [0.3, editDescriptions],
    [0.25, attach],
    [0.15, detach],
    [0.2, otherProduct],
    [0.15, otherTryon],
    [0.04, otherDeletes],
  ];
  for (const [share, act] of acts) {
    // A mirror of approved images needs a first decision.
    if (random.next() >= (isFirst && act === review ? 1 : share)) continue;
    await scene.mock.clock.advance(2 * 60_000);
    count(scene, act.name);
    await act(scene);
  }
}

/** Runs a command that must succeed. */
async function done(machine: Machine, argv: readonly string[], ok = [0]): Promise<string> {
  const { status, stdout, stderr } = await machine.cat(argv);
  if (!ok.includes(status!))
    throw new Error(`cat ${argv.join(" ")} exited with ${status}: ${stderr}${stdout}`);
  return stdout;
}

/** Ann decides about all images that nobody has seen, and hands it on to the mirror; at times she has rejected ones made again. */
async function review(scene: Scene): Promise<void> {
  const { random, shop, ann, server } = scene;
  const state = stateOf(scene);
  const lives = livesOf(state);
  const rows: object[] = [];
  const rejected: [Product, (typeof angles)[number]][] = [];
  // A page of a gallery has images of deleted products too.
  for (const product of shop.all)
    for (const angle of angles)
      for (const [at, shot] of product.shots[angle].entries()) {
        if (shot.failed || shot.decision !== null) continue;
        const task = tasksOf(state, idOf(lives, product), angle)[at];
        if (task === undefined) continue;
        shot.decision = random.next() < 0.8 ? "approve" : "reject";
        const isLive = shop.products.get(product.reference) === product;
        if (shot.decision === "reject" && isLive) rejected.push([product, angle]);
        rows.push({
          ...{ task_id: task.id, product_id: task.product_id, product_reference: product.reference },
          ...{
            model_id: look.model,
            background: look.background,
            angle_shot: angle,
            decision: shot.decision,
          },
        });
      }
  if (rows.length === 0) return;
  ann.write("decisions.csv", stringify(rows, { header: true }));
  count(scene, "reviewed", rows.length);
  const mirror = ["--mirror", server.at("mirror"), "--reviewer", "ann"];
  await done(ann, ["tasks", "review", "decisions.csv", ...mirror]);
  if (rejected.length === 0 || random.next() < 0.5) return;
  count(scene, "reruns");
  // Rows of deleted products are skipped.
  await done(ann, ["tryon", "--rerun", "decisions.csv", "--yes", "--skip-invalid"], [0, 8]);
  for (const [product, angle] of rejected) shop.generate(product, angle);
}

const anyProduct = ({ random, shop }: Scene): Product => random.pick([...shop.products.values()]);

/** Ann gives a product another name. */
async function rename(scene: Scene): Promise<void> {
  const product = anyProduct(scene);
  product.name = `${product.reference} by Ann ${scene.random.below(1000)}`;
  await done(scene.ann, ["products", "update", product.reference, "--name", product.name]);
}

/** Ben saves all products as a sheet, edits descriptions in it, and imports it. */
async function editDescriptions(scene: Scene): Promise<void> {
  const { ben, random, shop } = scene;
  const text = await done(ben, ["products", "export", "-"]);
  const rows = parse(text, { columns: true }) as Record<string, string>[];
  for (let edits = 1 + random.below(3); edits > 0; edits--) {
    const row = random.pick(rows);
    const product = shop.products.get(row.reference!);
    if (product === undefined) continue;
    row.description = `By Ben ${random.below(1000)}`;
    product.description = row.description;
  }
  ben.write("ben.csv", stringify(rows, { header: true }));
  const before = new Set(stateOf(scene).imports.map(({ id }) => id));
  await done(ben, ["import", "ben.csv"]);
  for (const { id } of stateOf(scene).imports) if (!before.has(id)) scene.bens.add(id);
}

/** Ben adds a photo of a detail. */
async function attach(scene: Scene): Promise<void> {
  const { ben, photos } = scene;
  const product = anyProduct(scene);
  if ([...product.photos.values()].includes("detail")) return;
  const photo = photos.next();
  ben.write("detail.png", photoBytes(photo));
  product.photos.set(photo, "detail");
  await done(ben, ["products", "attach", product.reference, "detail.png:detail"]);
}

/** Ben removes one of his photos. */
async function detach(scene: Scene): Promise<void> {
  const { ben, random, shop } = scene;
  const having = [...shop.products.values()].filter(({ photos }) => [...photos.values()].includes("detail"));
  if (having.length === 0) return;
  const product = random.pick(having);
  const [photo] = [...product.photos].find(([, side]) => side === "detail")!;
  const state = stateOf(scene);
  const { images } = state.products.find(({ id }) => id === idOf(livesOf(state), product))!;
  const image = images.find(({ orientation }) => orientation === "detail")!;
  product.photos.delete(photo);
  await done(ben, ["products", "detach", product.reference, image.id]);
}

/** A request of a client that is not this program. */
async function request(
  scene: Scene,
  method: string,
  path: string,
  body?: object | FormData,
): Promise<Record<string, never>> {
  const isForm = body instanceof FormData;
  const response = await fetch(scene.mock.baseUrl + path, {
    method,
    headers: {
      authorization: "Bearer ak_mock",
      ...(body !== undefined && !isForm && { "content-type": "application/json" }),
    },
    body: body === undefined ? null : isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}

/** Another client has one product of its own at a time. */
async function otherProduct(scene: Scene): Promise<void> {
  const { shop, photos } = scene;
  const own = [...shop.products.values()].find(({ reference }) => reference.startsWith("OTHER-"));
  if (own !== undefined) {
    const id = idOf(livesOf(stateOf(scene)), own);
    await request(scene, "DELETE", `/v1/products/${id}`);
    return shop.delete(own.reference);
  }
  const front = photos.next();
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(photoBytes(front))]), "a.png");
  const { id: image_id } = await request(scene, "POST", "/v1/images", form);
  const reference = `OTHER-${front}`;
  const images = [{ image_id, orientation: "front" }];
  await request(scene, "POST", "/v1/products", { reference, name: reference, images });
  shop.create({ reference, name: reference, front, back: null });
}

/** Another client generates an image that is missing. */
async function otherTryon(scene: Scene): Promise<void> {
  const { random, mock } = scene;
  const product = anyProduct(scene);
  const angle = random.pick(angles);
  const has = product.shots[angle].some(({ failed, decision }) => !failed && decision !== "reject");
  if (has) return;
  await generateByOthers(scene, product, angle);
  await mock.clock.advance(60_000);
}

export async function generateByOthers(
  scene: Scene,
  product: Product,
  angle: (typeof angles)[number],
): Promise<void> {
  const product_id = idOf(livesOf(stateOf(scene)), product);
  const input = { product_id, model_id: look.model, background: look.background, angle_shot: angle };
  await request(scene, "POST", "/v1/tasks/tryon", { inputs: [input] });
  scene.shop.generate(product, angle);
}

/** Another client deletes a product of the sheet; its row stays. */
async function otherDeletes(scene: Scene): Promise<void> {
  const product = anyProduct(scene);
  if (product.reference.startsWith("OTHER-")) return;
  await request(scene, "DELETE", `/v1/products/${idOf(livesOf(stateOf(scene)), product)}`);
  scene.shop.delete(product.reference);
}
