import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GenerationSummary } from "../../../src/flows/generate/result.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

const header = "product_reference,model_id,background,angle_shot";

/** A mock with products DRESS-1 to DRESS-6, which have a photo each, and the curated models. */
export async function generateWorld(options: WorldOptions = {}) {
  const world = await createWorld({ ...options, mock: { rateLimit: false, ...options.mock } });
  const products = Array.from({ length: 6 }, (_, at) => ({
    reference: `DRESS-${at + 1}`,
    name: `Dress ${at + 1}`,
    images: [{ url: `https://cdn.example.com/${at + 1}.jpg` }],
  }));
  world.write("products.ndjson", products.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const imported = await world.cat("import products.ndjson");
  if (imported.exit !== 0) throw new Error(imported.stderr);
  const requests = () =>
    world.requests().map(({ method, path, status }) => `${method} ${path.split("?")[0]} ${status}`);
  return {
    ...world,
    /** Writes looks.csv with these rows below its header. */
    looks: (...rows: string[]) =>
      writeFileSync(join(world.folder, "looks.csv"), `${[header, ...rows].join("\n")}\n`),
    /** Every task of the service. */
    tasks: () => world.mock.state().organizations.main.tasks,
    /** The POST requests that queue tasks, with their status. */
    queuing: () => requests().filter((line) => line.startsWith("POST /v1/tasks")),
    /** Sets the credits of the organization; null for any number. */
    credits: (credits: number | null) => control(world.mock.baseUrl, "account", { credits }),
    /** Orders something to go wrong. */
    fault: (fault: object) => control(world.mock.baseUrl, "faults", fault),
  };
}

async function control(baseUrl: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${baseUrl}/_mock/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

export const summaryOf = (stdout: string): GenerationSummary => JSON.parse(stdout) as GenerationSummary;
