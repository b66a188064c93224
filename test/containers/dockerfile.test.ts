import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { isLong } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");

/** The largest layer on top of Node, in bytes. */
const largest = 80 * 1000 * 1000;

const isPossible =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  ["ip -V", "unshare --version", "nsenter --version", "chroot --version"].every(
    (line) => spawnSync(line.split(" ")[0]!, line.split(" ").slice(1)).status === 0,
  );

// Packs the package, and installs it with the packages of the lockfile.
test.runIf(isLong)(
  "the image is small, runs without root, becomes healthy, imports a file and undoes that, and stops on SIGTERM",
  async ({ skip }) => {
    if (!isPossible) skip("needs Linux, root, iproute2 and util-linux");
    const { stdout } = await execa(process.execPath, [join(root, "scripts/try-dockerfile.js")], {
      timeout: 600_000,
    });
    const { bytes, ...found } = JSON.parse(stdout) as { bytes: number };
    expect(found).toEqual({
      user: "65532:65532",
      ids: ["65532"],
      photo: expect.stringMatching(/^image\//),
      // After an import of one product by the image, next to one of the mock's own, and after its undo.
      products: [2, 1],
      status: 143,
    });
    expect(bytes).toBeGreaterThan(20_000_000);
    expect(bytes).toBeLessThan(largest);
  },
);

test("the image is a distroless one with one layer, and no shell is needed", () => {
  const [, image = ""] = dockerfile.split(
    /^FROM gcr\.io\/distroless\/nodejs\d+-debian12:nonroot@sha256:\w+$/m,
  );
  expect(image).not.toBe("");
  expect(image).not.toMatch(/^RUN /m);
  expect(image.match(/^(?:COPY|ADD) .*$/gm)).toEqual(["COPY --from=build /build/app /app"]);
  // Commands without a shell are JSON lists.
  for (const [, list = ""] of image.matchAll(/^(?:HEALTHCHECK .* CMD|ENTRYPOINT|CMD) (.*)$/gm))
    expect(JSON.parse(list)[0]).toBe("/nodejs/bin/node");
});

test("the build gets the packed package and the lockfile alone, and compiles nothing", () => {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8").trimEnd().split("\n");
  expect(lines).toEqual(["*", "!catalogue-imaging-catalogue-*.tgz", "!package-lock.json"]);
  // The name that npm pack gives the file.
  expect(manifest.name.replace("@", "").replace("/", "-")).toBe("catalogue-imaging-catalogue");
  expect(dockerfile).toContain(
    `\nARG PACKAGE=${lines[1]!.slice(1)}\nCOPY \${PACKAGE} package-lock.json ./\n`,
  );
  expect(dockerfile.match(/^RUN (?!set ).*npm .*$/gm)).toEqual([
    "RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund",
  ]);
  expect(dockerfile).not.toMatch(/build\.js|npm (?:run|install)/);
});

test("the build takes one packed file; with none or several it stops, and says how to choose one", async () => {
  const [check = ""] = dockerfile.match(/(?<=^RUN )set .*$/m) ?? [];
  const folder = temporaryFolder();
  const tried = async () => {
    const { exitCode, all } = await execa("sh", ["-c", check], { cwd: folder, reject: false, all: true });
    return [exitCode, all];
  };
  const stopped = (found: string) => [
    1,
    `error: one packed file is needed, not: ${found}\nRun npm pack, or choose one with --build-arg PACKAGE=FILE.`,
  ];
  expect(await tried()).toEqual(stopped("*.tgz"));
  writeFileSync(join(folder, "a-0.1.0.tgz"), "");
  expect(await tried()).toEqual([0, ""]);
  writeFileSync(join(folder, "a-0.2.0.tgz"), "");
  expect(await tried()).toEqual(stopped("a-0.1.0.tgz a-0.2.0.tgz"));
});
