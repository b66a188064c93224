import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";
import { generateWorld } from "../generate/generate-world.ts";

/** Runs a command, during which another program creates a file: with the first response that has this path. */
async function withFileAt(file: string, path: RegExp, line: string) {
  const world = await generateWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  const env = { CAT_BASE_URL: front.origin };
  world.looks("DRESS-1,Amara,studio,full-front");
  // Without `--yes`, which also agrees to replace files, the command would ask about the cost.
  if (line.startsWith("tryon")) await world.cat("tryon looks.csv --yes --no-wait", { env });
  let isCreated = false;
  front.change = (passing) => {
    // Signed URLs lead through the server in front as well.
    if (passing.json !== undefined)
      passing.json = JSON.parse(JSON.stringify(passing.json).replaceAll(world.mock.baseUrl, front.origin));
    if (isCreated || !path.test(`${passing.method} ${passing.path}`)) return;
    isCreated = true;
    world.write(file, "mine");
  };
  world.write("bad.csv", "reference,name,image_front\nA,Dress,https://cdn.example.com/a.jpg\nB,,\n");
  const ids = { IMAGE: world.products()[0]!.images[0]!.id, EXPORT: "" };
  if (line.includes("EXPORT")) {
    await world.cat("export --zip --out first.zip");
    ids.EXPORT = world.mock.state().organizations.main.exports[0]!.id;
  }
  const typed = line.replace(/IMAGE|EXPORT/, (name) => ids[name as keyof typeof ids]);
  const ran = await world.cat(typed, { env });
  expect(isCreated).toBe(true);
  return { ...world, ...ran, bytes: (name: string) => readFileSync(`${world.folder}/${name}`) };
}

const cases = [
  ["catalogue.csv", /GET \/v1\/exports/, "export --out catalogue.csv"],
  ["catalogue.jsonl", /GET \/_signed/, "export --manifest"],
  ["catalogue.zip", /GET \/_signed/, "export --zip"],
  ["again.zip", /GET \/_signed/, "exports download EXPORT --out again.zip"],
  ["photo.jpg", /GET \/_signed/, "images get IMAGE --save photo.jpg"],
  ["results.ndjson", /POST \/v1\/imports/, "import products.ndjson --results results.ndjson --photos all"],
  ["failed.csv", /POST \/v1\/imports/, "import bad.csv --skip-invalid --failed failed.csv"],
  ["review.html", /GET \/v1\/tasks/, "tryon looks.csv --gallery review.html"],
] as const;

describe("a file that appears during the command", () => {
  test.for(sampled(cases, 3))(
    "%s stays: the new file gets the next name, and the command exits with 2",
    async ([file, path, line]) => {
      const { exit, stderr, bytes } = await withFileAt(file, path, line);
      const other = file.replace(".", "-2.");
      expect({ exit, mine: String(bytes(file)), isOther: bytes(other).length > 4 }).toEqual({
        ...{ exit: 2, mine: "mine", isOther: true },
      });
      expect(stderr).toContain("was created by another program meanwhile, and stays; the new file is ");
      expect(stderr).toMatch(
        new RegExp(
          `${other.replace(".", "\\.")}\\nCheck both files, and rename the one that you need\\.\\n$`,
        ),
      );
    },
  );

  test.for(
    sampled(
      [
        ["catalogue.jsonl", /GET \/_signed/, "export --manifest", 1],
        ["catalogue.zip", /GET \/_signed/, "export --zip", 1],
        ["results.csv", /GET \/v1\/tasks/, "tryon looks.csv --results results.csv", 0],
      ] as const,
      1,
    ),
  )("%s: the command is done, and nothing is to be resumed", async ([file, path, line, exports]) => {
    const { exit, stderr, cat, mock } = await withFileAt(file, path, line);
    expect([exit, stderr]).toEqual([2, expect.not.stringMatching(/Stopped|To resume/)]);
    const count = () => mock.state().organizations.main.exports.length;
    expect(count()).toBe(exports);
    // A new export, not the rest of the last one.
    const again = await cat(`${line} --yes`);
    expect([again.exit, again.stderr]).toEqual([0, expect.not.stringMatching(/Resuming|To resume/)]);
    expect(count()).toBe(2 * exports);
  });

  test.for(cases.filter(([, , line]) => !/results|failed/.test(line)).slice(0, repetitions(1, cases.length)))(
    "%s is replaced with --yes",
    async ([file, path, line]) => {
      const { exit, bytes } = await withFileAt(file, path, `${line} --yes`);
      expect({ exit, isMine: String(bytes(file)) === "mine" }).toEqual({ exit: 0, isMine: false });
    },
  );
});
