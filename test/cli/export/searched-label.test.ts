import { readFileSync } from "node:fs";
import sharp from "sharp";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { labelWorld, vocabulary } from "./label-world.ts";

const unknown =
  "warning: saved as sent: no recent export lists the image\n" +
  "If it is AI-generated, add --label generated or --label beautified; if not, --no-label.\n";

/** Whether the command has saved a file with this source type, and what it says of the label. */
async function savedImage(
  world: Awaited<ReturnType<typeof labelWorld>>,
  id: string,
  flags = "",
): Promise<readonly [source: string | undefined, label: boolean, stderr: string]> {
  const line = `images get ${id} --save one --yes ${flags}`;
  const { stderr } = await world.cat(line);
  expect(stderr).toMatch(/^Saved one \([\d,]+ bytes\)\.\n/);
  const json = await world.cat(`${line} --json`);
  expect(json.exit).toBe(0);
  expect(json.stderr.startsWith('{"warning":{"message":"saved as sent')).toBe(stderr.endsWith(unknown));
  const { xmp } = await sharp(readFileSync(world.at("one"))).metadata();
  const source = /DigitalSourceType="([^"]*)"/.exec(String(xmp))?.[1]?.replace(vocabulary, "");
  return [source, JSON.parse(json.stdout).label, stderr.slice(stderr.indexOf("\n") + 1)];
}

const outputs = (world: Awaited<ReturnType<typeof labelWorld>>) =>
  world.mock.state().organizations.main.tasks.map(({ output_image_id }) => output_image_id!);

test("images get --save labels a generated image as exports list it, and leaves a photo as sent", async () => {
  const world = await labelWorld();
  const [shot, look] = outputs(world);
  expect(await savedImage(world, shot!)).toEqual(["compositeWithTrainedAlgorithmicMedia", true, ""]);
  expect(await savedImage(world, look!)).toEqual(["trainedAlgorithmicMedia", true, ""]);
  expect(await savedImage(world, look!, "--no-label")).toEqual([undefined, false, ""]);
  expect(await savedImage(world, world.products()[0]!.images[0]!.id)).toEqual([undefined, false, ""]);
});

longTest(
  "an image that no export lists is saved as sent with one warning, or with the label by --label",
  async () => {
    const world = await labelWorld();
    const create = { width: 8, height: 8, channels: 3, background: "red" } as const;
    await sharp({ create }).png().toFile(world.at("look.png"));
    const { stdout } = await world.cat("images upload look.png --json");
    const { id } = JSON.parse(stdout);
    expect(await savedImage(world, id)).toEqual([undefined, false, unknown]);
    const before = world.requests().length;
    expect(await savedImage(world, id, "--label beautified")).toEqual([
      "compositeWithTrainedAlgorithmicMedia",
      true,
      "",
    ]);
    const asked = world.requests().slice(before);
    expect(asked.filter(({ path }) => path.startsWith("/v1/exports"))).toEqual([]);
  },
);

test.each(
  sampled(
    [
      [403, { type: "forbidden", code: "insufficient_scope", message: "scope" }],
      [403, { type: "forbidden", code: "plan_required", message: "no exports" }],
      [404, { type: "not_found", code: "route_not_found", message: "no exports" }],
    ],
    1,
  ),
)(
  "a service that denies exports with %i saves the image as sent with the same warning",
  async (status, error) => {
    const world = await labelWorld();
    await world.fault({ match: { path: "/v1/exports" }, status, body: { error } });
    expect(await savedImage(world, outputs(world)[1]!)).toEqual([undefined, false, unknown]);
  },
);

test("a service that cannot read exports for seconds saves no image, and --no-label saves it", async () => {
  const world = await labelWorld();
  await world.fault({ match: { path: "/v1/exports" }, status: 500 });
  const id = outputs(world)[1]!;
  const before = world.clock.now();
  const { exit, stderr } = await world.cat(`images get ${id} --save one`);
  expect(exit).toBe(7);
  expect(stderr).toMatch(
    /\nRun the command again later\. To save without a search in exports, add --no-label\.\n$/,
  );
  expect(world.clock.now() - before).toBeLessThan(30_000);
  expect(world.names(".")).not.toContain("one");
  expect(await savedImage(world, id, "--no-label")).toEqual([undefined, false, ""]);
});

test.each([
  ["--label generated", "--label needs --save\nAdd --save, or remove --label.\n"],
  ["--no-label", "--no-label needs --save\nAdd --save, or remove --no-label.\n"],
])("images get %s without --save is a wrong command line", async (flags, why) => {
  const world = await createWorld();
  expect(await world.cat(`images get 01JGZZ0000000000000000000A ${flags}`)).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: ${why}`,
  });
});

test("exports download --extract labels generated images by their names, and counts files without a match", async () => {
  const world = await labelWorld();
  await world.cat("export --zip --out all.zip");
  const [{ id }] = JSON.parse(`[${(await world.cat("exports list --limit 1 --json")).stdout}]`);
  expect((await world.cat(`exports download ${id} --extract images`)).stderr).toMatch(
    /^Saved images \(8 files, [^\n]*\n$/,
  );
  expect(await world.sources("images")).toEqual([
    ["DRESS-1_tryon_full-front.png", `${vocabulary}trainedAlgorithmicMedia`],
    ["DRESS-2_beautifier_front.png", `${vocabulary}compositeWithTrainedAlgorithmicMedia`],
  ]);
  await world.cat(`exports download ${id} --extract plain --no-label`);
  expect(await world.sources("plain")).toEqual([]);
  // A product that is gone has no names in live exports.
  await world.send("DELETE", `/v1/products/${world.idOf("DRESS-1")}`);
  const rest = await world.cat(`exports download ${id} --extract rest`);
  expect(rest.stderr.split("\n").slice(1)).toEqual([
    "warning: 3 files extracted as sent: exports do not show how they were made",
    "For the AI label, use cat export --zip --extract; if it is not wanted, add --no-label.",
    "",
  ]);
  expect(await world.sources("rest")).toHaveLength(1);
  const { stdout } = await world.cat(`exports download ${id} --extract json --json`);
  expect(JSON.parse(stdout)).toMatchObject({ assets: 8, unlabeled: 3 });
  expect(await world.cat(`exports download ${id} --no-label`)).toMatchObject({
    exit: 2,
    stderr: "error: --no-label needs --extract\nAdd --extract DIR, or remove --no-label.\n",
  });
});
