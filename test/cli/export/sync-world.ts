import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { MirrorEntry } from "../../../src/flows/export/sync/mirror-entry.ts";
import type { SyncSummary } from "../../../src/flows/export/sync/result.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

/** A mock with products DRESS-1 to DRESS-3, which have a front and a back photo each. */
export async function syncWorld(options: WorldOptions = {}) {
  const world = await createWorld({ ...options, mock: { rateLimit: false, ...options.mock } });
  const send = async (method: string, path: string, body?: object) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(`${world.mock.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${world.mock.apiKey}`, "content-type": type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
    return response.status === 204 ? null : response.json();
  };
  /** Imports products with a photo of each orientation. */
  const addAll = async (references: readonly string[], orientations: readonly string[]) => {
    const images = orientations.map((orientation) => ({
      url: `https://cdn.example.com/${orientation}.jpg`,
      orientation,
    }));
    const rows = references.map((reference) => JSON.stringify({ reference, name: "Another", images }));
    world.write("more.ndjson", `${rows.join("\n")}\n`);
    expect(await world.cat("import more.ndjson")).toMatchObject({ exit: 0 });
  };
  const products = Array.from({ length: 3 }, (_, at) => ({
    reference: `DRESS-${at + 1}`,
    name: `Dress ${at + 1}`,
    images: ["front", "back"].map((orientation) => ({
      url: `https://cdn.example.com/${at + 1}-${orientation}.jpg`,
      orientation,
    })),
  }));
  world.write("products.ndjson", products.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const imported = await world.cat("import products.ndjson");
  if (imported.exit !== 0) throw new Error(imported.stderr);
  // A delta begins five minutes before the last run.
  world.clock.advance(600_000);

  const at = (path: string) => join(world.folder, path);
  /** The files of a folder, with their content, without the hidden folder of the mirror. */
  const tree = (folder: string): Record<string, string> =>
    existsSync(at(folder))
      ? Object.fromEntries(
          readdirSync(at(folder), { recursive: true, withFileTypes: true })
            .filter((one) => one.isFile())
            .map((one) => join(one.parentPath, one.name).slice(at(folder).length + 1))
            .filter((name) => !name.startsWith(".catalogue-sync/"))
            .sort()
            .map((name) => [name, readFileSync(at(join(folder, name)), "latin1")]),
        )
      : {};
  return {
    ...world,
    at,
    tree,
    send,
    addAll,
    add: (reference: string, orientations: readonly string[]) => addAll([reference], orientations),
    names: (folder: string) => Object.keys(tree(folder)),
    mkdir: (path: string) => mkdirSync(at(path), { recursive: true }),
    idOf: (reference: string) => world.products().find((one) => one.reference === reference)!.id,
    fault: (fault: object) => send("POST", "/_mock/faults", fault),
    calm: () => send("DELETE", "/_mock/faults"),
    /** Runs `cat export sync` with --json; the counts that are not 0. */
    async sync(line: string): Promise<{ exit: number; stderr: string; counts: Partial<SyncSummary> }> {
      const { exit, stdout, stderr } = await world.cat(`export sync ${line} --json`);
      const summary = stdout === "" ? {} : (JSON.parse(stdout) as SyncSummary);
      const { run_id: _, duration_ms: __, index_file: ___, bytes: ____, ...counts } = summary as SyncSummary;
      return {
        exit,
        stderr,
        counts: Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
      };
    },
    index: (path: string): MirrorEntry[] =>
      world
        .read(path)
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as MirrorEntry),
    /** The requests for pages and images since the last time. */
    traffic: (() => {
      let seen = 0;
      return () => {
        const all = world.requests().map(({ path }) => path.split("?")[0]!);
        const recent = all.slice(seen);
        seen = all.length;
        return {
          pages: recent.filter((path) => path === "/v1/exports").length,
          images: recent.filter((path) => !path.startsWith("/v1/") && !path.startsWith("/_mock")).length,
        };
      };
    })(),
  };
}
