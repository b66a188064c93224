import sharp from "sharp";
import { expect, test } from "vitest";
import { repetitions, sampled } from "../support/repetitions.ts";
import type { CallOptions } from "../support/world.ts";
import { serviceInFront } from "./every-command/service-in-front.ts";
import { generateWorld } from "./generate/generate-world.ts";

/** A gateway that passes requests on and then answers in the service's place. */
interface Page {
  readonly status: number;
  readonly type: string | null;
  /** The body; HTML is that of the response it replaces. */
  readonly json?: object;
}

const pages: Page[] = [
  ...repetitions([403], [400, 403, 404, 408, 413]).map((status) => ({ status, type: "text/html" })),
  { status: 499, type: null },
  { status: 200, type: "text/html" },
];

const photo = (background: string) =>
  sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .jpeg()
    .toBuffer();
const photos = Promise.all([photo("red"), photo("blue")]);

/** A shop with a gateway before its service; `pages` answers the next writes in the service's place. */
async function behindGateway() {
  const world = await generateWorld({ mock: { seed: 3 } });
  const front = await serviceInFront(world.mock.baseUrl);
  let left = 0;
  let answers: readonly Page[] = pages;
  front.change = (passing) => {
    if (passing.method === "GET" || left === 0) return;
    const page = answers[answers.length - Math.min(left, answers.length)]!;
    left--;
    passing.status = page.status;
    passing.headers = page.type === null ? {} : { "content-type": page.type };
    passing.json = page.json;
  };
  const [frontPhoto, backPhoto] = await photos;
  world.write("front.jpg", frontPhoto);
  world.write("back.jpg", backPhoto);
  return {
    ...world,
    origin: front.origin,
    /** The next writes get these responses, the last one as often as it takes. */
    intercept(times: number, ...by: Page[]) {
      left = times;
      answers = by;
    },
    cat: (line: string, call: CallOptions = {}) =>
      world.cat(line, { ...call, env: { CAT_BASE_URL: front.origin, ...call.env } }),
  };
}

type World = Awaited<ReturnType<typeof behindGateway>>;

/** What a command does at the service, and how often; it is prepared by `write`. */
interface Case {
  readonly line: string;
  readonly prepare?: (world: World) => unknown;
  readonly done: (world: World) => unknown;
  readonly once: unknown;
}

const coat = { reference: "COAT", name: "Coat", images: [{ url: "https://cdn.example.com/coat.jpg" }] };
const organization = (world: World) => world.mock.state().organizations.main;
const photosOf = (world: World, reference: string) =>
  world.products().find((product) => product.reference === reference)?.images.length;

/** Commands that remember their keys: the same command resumes what a gateway interrupted. */
const resumed: Record<string, Case> = {
  "a try-on": {
    line: "tryon looks.csv --yes --no-wait",
    prepare: (world) => world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front"),
    done: (world) => world.tasks().length,
    once: 2,
  },
  "a beautified shot": {
    line: "beautify shots.csv --yes --no-wait",
    prepare: (world) =>
      world.write(
        "shots.csv",
        "product_reference,subtype,background,angle_shot\nDRESS-1,clothing,white,front\n",
      ),
    done: (world) => world.tasks().length,
    once: 1,
  },
  "an import with photos": {
    line: "import new.csv",
    prepare: (world) =>
      world.write(
        "new.csv",
        "reference,name,image_1,image_2\nDRESS-9,Dress 9,front.jpg,https://cdn.example.com/9.jpg\n",
      ),
    done: (world) => [photosOf(world, "DRESS-9"), organization(world).images.length],
    once: [2, 8],
  },
  "an import that changes a field": {
    line: "import changed.ndjson",
    async prepare(world) {
      world.write("coat.ndjson", `${JSON.stringify(coat)}\n`);
      world.write("changed.ndjson", `${JSON.stringify({ ...coat, name: "Parka" })}\n`);
      expect((await world.cat("import coat.ndjson")).exit).toBe(0);
    },
    done: (world) =>
      world
        .products()
        .map(({ name, images }) => [name, images.length])
        .at(-1),
    once: ["Parka", 1],
  },
  "a frozen export": {
    line: "export --manifest --out m.jsonl",
    done: (world) => organization(world).exports.length,
    once: 1,
  },
};

/** Commands that have one key: only their own retries help. */
const oneShot: Record<string, Case> = {
  "products create": {
    line: "products create --reference NEW --name New --image front.jpg",
    done: (world) => [photosOf(world, "NEW"), organization(world).images.length],
    once: [1, 7],
  },
  "products update": {
    line: "products update DRESS-1 --name Gown",
    done: (world) => world.products()[0]!.name,
    once: "Gown",
  },
  "products attach": {
    line: "products attach DRESS-1 front.jpg back.jpg",
    done: (world) => photosOf(world, "DRESS-1"),
    once: 3,
  },
  "products delete": {
    line: "products delete DRESS-1 --yes",
    done: (world) => world.products().length,
    once: 5,
  },
  "images upload": {
    line: "images upload front.jpg",
    done: (world) => organization(world).images.length,
    once: 7,
  },
  "webhooks create": {
    line: "webhooks create --url https://example.com/hook --events task.succeeded",
    done: (world) => organization(world).webhooks.length,
    once: 1,
  },
  api: {
    line: `api POST webhooks -f url=https://example.com/hook -F events[]=task.succeeded`,
    done: (world) => organization(world).webhooks.length,
    once: 1,
  },
};

const every = Object.entries({ ...resumed, ...oneShot }).map(([name, one]) => ({ name, ...one }));

test.each(sampled(every, 3))(
  "$name is done once if a gateway replaces the first two responses",
  async ({ line, prepare, done, once }) => {
    const world = await behindGateway();
    await prepare?.(world);
    world.intercept(2, { status: 403, type: "text/html" });
    const ran = await world.cat(line);
    expect(ran).toMatchObject({ exit: 0 });
    expect(done(world)).toEqual(once);
  },
);

test.each(sampled(Object.entries(resumed), 3))(
  "%s is done once by the same command after a gateway replaced every response",
  async (name, { line, prepare, done, once }) => {
    const world = await behindGateway();
    await prepare?.(world);
    const exits: number[] = [];
    // A gateway that calls a photo too large rejects it: the row is in the failed file.
    const isRejection = ({ status }: Page) => status === 413 && name === "an import with photos";
    for (const page of pages.filter((page) => !isRejection(page))) {
      world.intercept(Number.POSITIVE_INFINITY, page);
      exits.push((await world.cat(line)).exit);
    }
    expect(exits[0]).toBe(7);
    world.intercept(0, pages[0]!);
    expect((await world.cat(line)).exit).toBe(0);
    expect(done(world)).toEqual(once);
  },
);

test("a read without a response is not said to have been done", async () => {
  const world = await behindGateway();
  await world.fault({ match: { method: "GET", path: "/v1/" }, drop: "after", times: 20 });
  const ran = await world.cat("api GET /products");
  expect([ran.exit, ran.stderr]).toEqual([7, expect.not.stringContaining("may have done it")]);
});

test("a write that a gateway blocks ends with 7 and names what to check", async () => {
  const world = await behindGateway();
  world.intercept(Number.POSITIVE_INFINITY, { status: 403, type: "text/html" });
  const ran = await world.cat("products update DRESS-1 --name Gown");
  expect([
    ran.exit,
    ran.stdout,
    ran.stderr
      .replace(/[0-9A-Z]{26}/, "ID")
      .split("\n")
      .slice(-3),
  ]).toEqual([
    7,
    "",
    [
      `error: ${world.origin} sent HTML, not JSON (PATCH /v1/products/ID, status 403)`,
      `Check that ${world.origin} is the base URL of the service and that no gateway blocks PATCH requests.`,
      "",
    ],
  ]);
});

const unrecorded = [
  ["products attach DRESS-1 IMAGE", "Check the photos before you attach them again: cat products get ID"],
  [
    "webhooks create --url https://example.com/hook --events task.succeeded",
    "Delete a webhook whose secret you do not have before you create another: cat webhooks list",
  ],
  [
    "api POST webhooks -f url=https://example.com/hook -F events[]=task.succeeded",
    "Check what it did before you send POST /v1/webhooks again.",
  ],
] as const;

const html = (status: number): Page => ({ status, type: "text/html" });
const envelope = (type: string, code: string) => ({ error: { type, code, message: "not now" } });
const invalidKey: Page = {
  ...{ status: 401, type: "application/json" },
  json: envelope("unauthorized", "invalid_api_key"),
};
const broken: Page = { status: 500, type: "application/json", json: envelope("internal", "internal_error") };
const troubles = [
  ["got no response", 7, { drop: true }],
  ["got a page of a gateway", 7, { answers: Array<Page>(20).fill(html(403)) }],
  ["got another page of a gateway", 7, { answers: Array<Page>(20).fill(html(502)) }],
  ["got an internal error of the service", 7, { answers: Array<Page>(20).fill(broken) }],
  ["got a page, and was rejected when it was sent again", 4, { answers: [html(502), invalidKey] }],
] as const;

test.each(
  sampled(
    unrecorded.flatMap((command) => troubles.map((trouble) => [...command, ...trouble] as const)),
    3,
  ),
)(
  "a write without a record is not to be repeated blindly: %s (%s) %s",
  async (line, check, _, exit, trouble) => {
    const world = await behindGateway();
    if ("drop" in trouble) {
      const fault = { match: { method: "POST", path: "/v1/" }, drop: "after", times: 20 };
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    } else world.intercept(trouble.answers.length, ...trouble.answers);
    const { id } = world.products().at(-1)!.images[0]!;
    const ran = await world.cat(line.replace("IMAGE", id));
    expect(ran.exit).toBe(exit);
    expect(
      ran.stderr
        .replaceAll(/[0-9A-Z]{26}/g, "ID")
        .split("\n")
        .at(-2),
    ).toBe(`The service may have done it. ${check}`);
  },
);
