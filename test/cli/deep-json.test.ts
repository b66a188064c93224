import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { sampled } from "../support/repetitions.ts";
import { createWorld, type TestWorld } from "../support/world.ts";
import { serviceInFront } from "./every-command/service-in-front.ts";
import { generateWorld } from "./generate/generate-world.ts";

const lists = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
const why = "JSON nested deeper than 100 levels";

/** A command that reads a file with this JSON, its exit status, and what it reports. */
interface FileCase {
  readonly line: string;
  readonly file: string;
  readonly text: (deep: string) => string;
  readonly exit: number;
  readonly reports: string;
}

const row = (more: string) =>
  `{"reference":"A","name":"Coat","images":[{"url":"https://cdn.example.com/a.jpg"}]${more}}`;
const look = (more: string) =>
  `{"product_reference":"DRESS-1","model_id":"Amara","background":"studio","angle_shot":"full-front"${more}}`;
const shot = (more: string) =>
  `{"product_reference":"DRESS-1","subtype":"clothing","background":"white","angle_shot":"front"${more}}`;

const files: Readonly<Record<string, FileCase>> = {
  "rows of an import": {
    line: "import rows.ndjson",
    file: "rows.ndjson",
    text: (deep) => `${row("")}\n${row(`,"later":${deep}`)}\n`,
    exit: 3,
    reports: `rows.ndjson:2  -  invalid_json  ${why}`,
  },
  "rows of try-ons": {
    line: "tryon looks.ndjson --yes",
    file: "looks.ndjson",
    text: (deep) => `${look("")}\n${look(`,"later":${deep}`)}\n`,
    exit: 3,
    reports: `looks.ndjson:2  -  invalid_json  ${why}`,
  },
  "rows of beautified shots": {
    line: "beautify shots.ndjson --yes",
    file: "shots.ndjson",
    text: (deep) => `${shot("")}\n${shot(`,"later":${deep}`)}\n`,
    exit: 3,
    reports: `shots.ndjson:2  -  invalid_json  ${why}`,
  },
  "the config file": {
    line: "config list",
    file: "home/config.json",
    text: (deep) => `{\n"profiles": {},\n"later": ${deep} }`,
    exit: 2,
    reports: `config.json: line 3 has ${why}`,
  },
  "a mapping": {
    line: "import a.csv --map-file map.json",
    file: "map.json",
    text: (deep) => `{\n"columns": { "a": ${deep} } }`,
    exit: 2,
    reports: `map.json:2: ${why}`,
  },
  "a state of the mock": {
    line: "serve --mock --port 0 --load state.json",
    file: "state.json",
    text: (deep) => `{\n"version": ${deep} }`,
    exit: 3,
    reports: `state.json:2: ${why}`,
  },
  "a plan": {
    line: "import --apply a.plan --yes",
    file: "a.plan",
    text: (deep) => `{"plan":1,"later":${deep}}\n{"sha256":""}\n`,
    exit: 3,
    reports: "a.plan is not a plan",
  },
  "a body of cat api": {
    line: "api POST /products --input body.json",
    file: "body.json",
    text: (deep) => `{\n"name":${deep}}`,
    exit: 3,
    reports: `body.json:2: ${why}`,
  },
  "rows of cat api": {
    line: "api POST /imports --input rows.ndjson",
    file: "rows.ndjson",
    text: (deep) => `${row("")}\n${row(`,"later":${deep}`)}\n`,
    exit: 3,
    reports: `rows.ndjson:2: ${why}`,
  },
  "the state of a mirror": {
    line: "export sync mirror",
    file: "mirror/.catalogue-sync/all/state.json",
    text: (deep) => `{"version":1,"base_url":"a","later":${deep}}`,
    exit: 2,
    reports: "the state of the mirror mirror is damaged",
  },
};

function write(world: TestWorld, name: string, text: string): void {
  const path = join(world.folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

describe.each(Object.entries(files))("%s", (_, { line, file, text, exit, reports }) => {
  const depths = line === "import rows.ndjson" ? [101, 300_000] : sampled([101, 300_000], 1);
  test.each(depths)(`with %i levels exits with ${exit}, and sends no write`, async (levels) => {
    const world = await (/^(?:tryon|beautify) /.test(line) ? generateWorld() : createWorld());
    world.write("a.csv", "reference,name,images\nA,Coat,https://cdn.example.com/a.jpg\n");
    const before = world.requests().length;
    write(world, file, text(lists(levels)));
    const ran = await world.cat(line, { env: { CAT_HOME: join(world.folder, "home") } });
    expect(ran).toMatchObject({ exit });
    expect(ran.stderr).toContain(reports);
    expect(
      world
        .requests()
        .slice(before)
        .filter(({ method }) => method !== "GET"),
    ).toEqual([]);
  });
});

test("the program exits with 2 for a field of cat api whose name has more than 100 parts", async () => {
  const world = await createWorld();
  const ran = await world.cat(`api POST /products -F ${"a.".repeat(20_000)}b=1`);
  expect(ran).toMatchObject({ exit: 2 });
  expect(ran.stderr).toContain("Use names such as name, size.width or images[].image_id.\n");
});

/** Adds a field that is nested too deeply to each response. */
async function deepService(world: TestWorld, levels: number) {
  const front = await serviceInFront(world.mock.baseUrl);
  front.change = (passing) => {
    if (typeof passing.json === "object" && passing.json !== null)
      passing.json = { ...passing.json, later: JSON.parse(lists(levels)) };
  };
  return {
    ...front,
    cat: (line: string) => world.cat(line, { env: { CAT_BASE_URL: front.origin } }),
  };
}

const reads = [
  "whoami",
  "products list",
  "products list --all --json",
  "products get DRESS-1",
  "products export all.csv",
  "models list",
  "tasks list --format csv",
  "webhooks list --json",
  "export",
  "export sync mirror",
  "serve --mock --clone --port 0",
  "api GET /products",
  "api GET /products --paginate",
  "api GET /products --include --json",
];

describe("a service whose responses are nested too deeply", () => {
  test.each(sampled(reads, 4))("exits with 7 in cat %s", async (line) => {
    const world = await generateWorld();
    const service = await deepService(world, 2_000);
    const ran = await service.cat(line);
    expect(ran).toMatchObject({ exit: 7 });
    expect(ran.stderr).toContain(`sent ${why}`);
  });

  test("is read with 100 levels", async () => {
    const world = await generateWorld();
    const service = await deepService(world, 99);
    expect(await service.cat("products list --json")).toMatchObject({ exit: 0 });
    expect(await (await deepService(world, 100)).cat("products list")).toMatchObject({ exit: 7 });
  });
});

const photo = sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
  .jpeg()
  .toBuffer();

const isWrite = (request: string) => !request.startsWith("GET");

/** How the responses to writes are odd, other than in what they say was done. */
const oddities: readonly [how: string, change: (body: Record<string, unknown>) => void][] = [
  [
    "nested too deeply",
    (body) => {
      body.later = JSON.parse(lists(2_000));
    },
  ],
  [
    "of an unknown status",
    (body) => {
      body.status = { odd: 1 };
      body.counts = "none";
      for (const task of (body.tasks as { status: unknown }[] | undefined) ?? []) task.status = 7;
      if ("output_image" in body) body.output_image = 7;
    },
  ],
];

async function oddService(world: TestWorld, change: (body: Record<string, unknown>) => void) {
  const front = await serviceInFront(world.mock.baseUrl);
  let isOdd = true;
  front.change = ({ method, status, json }) => {
    if (isOdd && isWrite(method) && status < 300 && typeof json === "object" && json !== null)
      change(json as Record<string, unknown>);
  };
  return {
    mend: () => {
      isOdd = false;
    },
    cat: (line: string) => world.cat(line, { env: { CAT_BASE_URL: front.origin } }),
  };
}

describe.each(sampled(oddities, 1))("a write whose response is %s", (_, change) => {
  test("is recorded: an import is followed, and sends nothing twice", async () => {
    const world = await generateWorld();
    const service = await oddService(world, change);
    const rows = Array.from({ length: 3 }, (_, n) => `N-${n},Coat,https://cdn.example.com/${n}.jpg`);
    const before = world.requests().length;
    world.write("new.csv", ["reference,name,images", ...rows, ""].join("\n"));
    const ran = await service.cat("import new.csv --json");
    expect(ran).toMatchObject({ exit: 7 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ submitted: 3, succeeded: 3, created: 3 });
    service.mend();
    expect(await service.cat("import new.csv --json")).toMatchObject({ exit: 0 });
    const sent = world
      .requests()
      .slice(before)
      .filter(({ method, path }) => method === "POST" && path.startsWith("/v1/imports"));
    expect(sent).toHaveLength(1);
    expect(world.products().filter(({ reference }) => reference?.startsWith("N-"))).toHaveLength(3);
  });

  test.each(
    sampled(
      [
        ["tryon looks.csv --yes --json", "/v1/tasks/tryon"],
        ["beautify shots.csv --yes --json", "/v1/tasks/beautifier"],
      ],
      1,
    ),
  )("is recorded: cat %s queues nothing twice", async (line, path) => {
    const world = await generateWorld();
    const service = await oddService(world, change);
    world.looks("DRESS-1,Amara,studio,full-front");
    world.write(
      "shots.csv",
      "product_reference,subtype,background,angle_shot\nDRESS-1,clothing,white,front\n",
    );
    expect(await service.cat(line)).toMatchObject({ exit: 7 });
    service.mend();
    expect(await service.cat(line)).toMatchObject({ exit: 0 });
    expect(world.requests().filter((request) => request.path === path)).toHaveLength(1);
    expect(world.tasks()).toHaveLength(1);
  });
});

describe("a write whose response is nested too deeply", () => {
  const deep = oddities[0]![1];

  test("prints the secret of a created webhook, then exits with 7", async () => {
    const world = await createWorld();
    const service = await oddService(world, deep);
    const ran = await service.cat("webhooks create --url https://hooks.example.com/a --events all --json");
    expect(ran).toMatchObject({ exit: 7 });
    const [webhook] = world.mock.state().organizations.main.webhooks;
    expect(JSON.parse(ran.stdout)).toMatchObject({
      id: webhook!.id,
      signing_secret: webhook!.signing_secret,
    });
    expect(JSON.parse(ran.stderr.split("\n").at(-2)!)).toMatchObject({
      error: { code: "wrong_shape", exit: 7 },
    });
  });

  test("prints the secret of a rotated webhook, then exits with 7", async () => {
    const world = await createWorld();
    await world.cat("webhooks create --url https://hooks.example.com/a --events all");
    const service = await oddService(world, deep);
    const { id } = world.mock.state().organizations.main.webhooks[0]!;
    const ran = await service.cat(`webhooks rotate ${id} --yes`);
    expect(ran).toMatchObject({ exit: 7 });
    expect(ran.stdout).toContain(world.mock.state().organizations.main.webhooks[0]!.signing_secret);
    expect(ran.stderr).toContain("The service has carried out the request.");
  });

  test("prints the secret of a webhook that cat api created, then exits with 7", async () => {
    const world = await createWorld();
    const service = await oddService(world, deep);
    const fields = "-F url=https://hooks.example.com/a -F events[]=import.completed";
    const ran = await service.cat(`api POST /webhooks ${fields}`);
    expect(ran).toMatchObject({ exit: 7 });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      signing_secret: world.mock.state().organizations.main.webhooks[0]!.signing_secret,
    });
  });

  test("prints the ID of an uploaded image and of a created product, then exits with 7", async () => {
    const world = await createWorld();
    const service = await oddService(world, deep);
    world.write("photo.jpg", await photo);
    const uploaded = await service.cat("images upload photo.jpg --json");
    expect(uploaded).toMatchObject({ exit: 7 });
    const { id } = JSON.parse(uploaded.stdout);
    const created = await service.cat(`products create --reference R --name N --image ${id} --json`);
    expect(created).toMatchObject({ exit: 7 });
    expect(JSON.parse(created.stdout).id).toBe(
      world.products().find(({ reference }) => reference === "R")!.id,
    );
  });

  test("leaves no webhook of a listener behind", async () => {
    const world = await createWorld();
    const service = await oddService(world, deep);
    const ran = await service.cat("webhooks listen --port 0 --plain");
    expect(ran).toMatchObject({ exit: 7 });
    expect(ran.stderr).toContain(`sent ${why} (POST /v1/webhooks, status 201`);
    expect(world.requests().map(({ method }) => method)).toContain("DELETE");
    expect(world.mock.state().organizations.main.webhooks).toEqual([]);
  });

  test("leaves no photo to upload twice in an import", async () => {
    const world = await createWorld();
    const service = await oddService(world, deep);
    world.write("photo.jpg", await photo);
    world.write("a.csv", "reference,name,images\nA,Coat,photo.jpg\n");
    expect(await service.cat("import a.csv")).toMatchObject({ exit: 7 });
    service.mend();
    expect(await service.cat("import a.csv")).toMatchObject({ exit: 0 });
    expect(world.requests().filter(({ path }) => path === "/v1/images")).toHaveLength(1);
  });
});

test("an error of the service keeps its exit status, however deep its details are", async () => {
  const world = await createWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  front.change = ({ json }) => {
    const { error } = json as { error?: Record<string, unknown> };
    if (error !== undefined) error.later = JSON.parse(lists(2_000));
  };
  const ran = await world.cat("products get 01JGZZ0000000000000000000A --json", {
    env: { CAT_BASE_URL: front.origin },
  });
  expect(ran).toMatchObject({ exit: 5 });
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: "product_not_found" } });
});
