import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const files = ["Dockerfile", "README.md", "CONTRIBUTING.md", "action.yml", "docs", ".github", ".ci"]
  .filter((name) => existsSync(join(root, name)))
  .flatMap((name) =>
    /[./]/.test(name.slice(1)) || name === "Dockerfile"
      ? [name]
      : readdirSync(join(root, name), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
  );

/** The image of a stage, a job, a container or a step. */
const uses =
  /^\s*(?:-\s*)?(?:FROM(?:\s+--\S+)*|(?:image|container):|uses:\s*docker:\/\/)\s*["']?([\w./:@-]+)/gm;

test("every container image has a digest, the same in all places, because a tag can get another image", () => {
  const found = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(uses)].map((match) => ({ file, image: match[1]! })),
  );
  // Those that the reader builds.
  const own = [
    "docs/containers.md: catalogue-mock",
    "docs/exports.md: registry.example.com/catalogue@sha256:DIGEST",
  ];
  const named = found.map(({ file, image }) => `${file}: ${image}`);
  expect(named).toEqual(expect.arrayContaining(own));
  const others = found.filter(({ file, image }) => !own.includes(`${file}: ${image}`));
  expect(others.map(({ file }) => file)).toEqual(
    expect.arrayContaining(["Dockerfile", "docs/ci.md", "docs/exports.md"]),
  );
  for (const { file, image } of others)
    expect(`${file}: ${image}`).toMatch(/: [\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  const names = new Set(others.map(({ image }) => image.split("@")[0]));
  expect(new Set(others.map(({ image }) => image)).size).toBe(names.size);
});
