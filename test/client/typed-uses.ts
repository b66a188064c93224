// Checked by `npm run types` and never run: uses of the package that must compile, and misuses that must not.
import * as undici from "undici";
import {
  ApiError,
  CatalogueError,
  type Client,
  type Clock,
  createClient,
  type ErrorCode,
  type ErrorType,
  type EventType,
  type ExportRow,
  type Import,
  type ImportRow,
  type Input,
  type Item,
  NetworkError,
  operations,
  type Product,
  type Task,
  unknownField,
  type Webhook,
} from "../../src/index.ts";

declare const client: Client;
declare const clock: Clock;

/** Whether two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => {};

export async function uses(): Promise<void> {
  createClient({ baseUrl: "https://a.example", apiKey: async () => "ak_1", clock, retry: { attempts: 1 } });
  createClient({ baseUrl: "https://a.example", apiKey: "ak_1", fetch, headers: { traceparent: "00-1" } });
  createClient({ baseUrl: "https://a.example", apiKey: "ak_1", fetch: undici.fetch });
  createClient({ baseUrl: "https://a.example", apiKey: "ak_1", dispatcher: new undici.Agent() });
  // @ts-expect-error a function that does not resolve to a response
  createClient({ baseUrl: "https://a.example", apiKey: "ak_1", fetch: async () => "ok" });
  holds<Same<Awaited<ReturnType<ReturnType<Client["products"]["listAll"]>["toArray"]>>, Product[]>>();
  const rows: ImportRow[] = [
    { reference: "A", name: "Coat", images: [{ url: "https://a.example/a.jpg" }] },
    {
      reference: "B",
      name: "Hat",
      sex: "kid",
      images: [{ image_id: "01", orientation: "three-quarter-left" }],
    },
  ];
  const job: Import = await client.imports.create(
    { body: { mode: "upsert", rows } },
    { idempotencyKey: "k" },
  );
  await client.imports.create({ ndjson: "{}\n", mode: "create", on_image_error: "skip" });
  holds<
    Same<Import["status"], "validating" | "processing" | "completed" | "completed_with_errors" | "failed">
  >();
  const ended = await client.poll(
    operations.imports.get,
    { import_id: job.id },
    { done: ({ status }) => status === "completed", onResponse: ({ counts }) => counts.total, timeoutMs: 5 },
  );
  holds<Same<typeof ended, Import>>();
  for await (const row of client.imports.rowsAll({ import_id: job.id, status: "failed" })) {
    if (row.error?.code === "image_failed" || row.error?.code === "a code of next year")
      row.images[0]?.image_id;
  }
  for await (const product of client.products.listAll({ q: "coat" })) holds<Same<typeof product, Product>>();
  for await (const task of client.paginate(operations.tasks.list, { status: "queued" })) {
    holds<Same<typeof task, Task>>();
    holds<Same<Task["subtype"], "clothing" | "shoes" | "headwear" | null>>();
  }
  const exported = await client.exports.create();
  await client.exports.create({ body: { format: "zip", role: ["tryon"] as const } });
  for await (const chunk of client.download(exported.url ?? "")) holds<Same<typeof chunk, Uint8Array>>();
  await client.images.upload("photo.jpg");
  await client.images.upload(new Blob([]));
  await client.images.upload(Buffer.from(""));
  await client.images.upload({ file: { bytes: new Uint8Array(), filename: "a.png" } });
  const { body, requestId } = await client.exchange(operations.webhooks.list, {});
  holds<Same<typeof body.data, Webhook[]>>();
  holds<Same<Webhook["events"], EventType[]>>();
  holds<Same<typeof requestId, string | undefined>>();
  await client.models.list({ is_public: true });
  await client.products.update({ product_id: "01", body: { description: null, name: undefined } });
  holds<Same<Awaited<ReturnType<Client["products"]["delete"]>>, null>>();
  holds<Same<Item<typeof operations.exports.list>, ExportRow>>();
  const input: Input<typeof operations.products.get> = { product_id: "01" };
  const colour: unknown = unknownField(await client.products.get(input), "colour");
  await using closed = client;
  void [colour, closed];
}

export function errors(error: unknown): ErrorType | ErrorCode | string {
  if (error instanceof ApiError) {
    switch (error.type) {
      case "not_found":
        return error.code === "product_not_found" ? error.code : error.request;
      default:
        return error.type satisfies ErrorType;
    }
  }
  if (error instanceof NetworkError) return error.code === "unreachable" ? "offline" : error.type;
  return error instanceof CatalogueError ? (error.hint ?? error.code) : "";
}

export async function misuses(product: Product, task: Task, error: unknown): Promise<void> {
  // @ts-expect-error a field that the service does not have
  product.colour;
  // @ts-expect-error nor in an object of a list
  product.images[0]?.name;
  // @ts-expect-error a row without a name
  await client.imports.create({ body: { rows: [{ reference: "A", images: [] }] } });
  // @ts-expect-error a misspelled field of a row
  await client.imports.create({ body: { rows: [{ reference: "A", name: "B", image: [] }] } });
  // @ts-expect-error an image is a URL or an ID
  await client.imports.create({ body: { rows: [{ reference: "A", name: "B", images: [{}] }] } });
  // @ts-expect-error not an orientation
  const row: ImportRow = { reference: "A", name: "B", images: [{ url: "https://a", orientation: "up" }] };
  // @ts-expect-error not a mode
  await client.imports.create({ mode: "replace", ndjson: "" });
  // @ts-expect-error options of a JSON body are part of it
  await client.imports.create({ mode: "create", body: { rows: [] } });
  // @ts-expect-error an ID is required
  await client.products.get();
  // @ts-expect-error polling would create an export each time
  void client.poll(operations.exports.create, {}, { done: () => true });
  // @ts-expect-error a misspelled parameter
  await client.products.list({ limits: 1 });
  // @ts-expect-error a body is required
  await client.products.create({});
  // @ts-expect-error not a status of a task
  if (task.status === "completed") return;
  // @ts-expect-error not a sex
  if (product.sex === "woman") return;
  // @ts-expect-error a reference may be missing
  product.reference.length;
  // @ts-expect-error not a type of an error of the service
  if (error instanceof ApiError && error.type === "network") return;
  // @ts-expect-error not a reason of a network error
  if (error instanceof NetworkError && error.code === "timeout") return;
  // @ts-expect-error not an event
  await client.webhooks.create({ body: { url: "https://a", events: ["task.done"] } });
  // @ts-expect-error the input of another operation
  await client.exchange(operations.products.get, { task_id: "01" });
  // @ts-expect-error not a list
  client.paginate(operations.products.get, { product_id: "01" });
  // @ts-expect-error a misspelled option
  createClient({ baseURL: "https://a", apiKey: "ak_1" });
  // @ts-expect-error no API key
  createClient({ baseUrl: "https://a" });
  // @ts-expect-error not the name of an option
  await client.poll(operations.imports.get, { import_id: "01" }, { done: () => true, onAnswer: () => {} });
  // @ts-expect-error a number is not an image
  await client.images.upload(5);
  void row;
}
