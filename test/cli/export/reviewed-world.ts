import { expect } from "vitest";
import { syncWorld } from "./sync-world.ts";

/** A catalogue of three products with two photos each, and a try-on of each product. */
export async function reviewedWorld() {
  const world = await syncWorld();
  const looks = [1, 2, 3].map((at) => `DRESS-${at},Amara,studio,full-front`);
  world.write("looks.csv", `product_reference,model_id,background,angle_shot\n${looks.join("\n")}\n`);
  expect(await world.cat("tryon looks.csv --yes")).toMatchObject({ exit: 0 });
  world.clock.advance(600_000);
  const tasks = world.mock.state().organizations.main.tasks.map(({ id }) => id);
  return {
    ...world,
    /** The IDs of the try-ons, in the order of their products. */
    tasks,
    /** Generates one more image. */
    async look(row: string) {
      world.write("more.csv", `product_reference,model_id,background,angle_shot\n${row}\n`);
      expect(await world.cat("tryon more.csv --yes")).toMatchObject({ exit: 0 });
    },
    /** Records decisions about the try-ons, later than those before. */
    async review(...decisions: readonly ("approve" | "reject" | "")[]) {
      world.clock.advance(1_000);
      const rows = tasks.map((id, at) => `${id},${decisions[at] ?? ""}`);
      world.write("decisions.csv", `task_id,decision\n${rows.join("\n")}\n`);
      expect(await world.cat("tasks review decisions.csv")).toMatchObject({ exit: 0 });
    },
    /** The try-ons of an index, with what it says of them. */
    tryons: (path = "m/catalogue.ndjson") =>
      world
        .index(path)
        .filter(({ role }) => role === "tryon")
        .sort((one, other) => (one.reference! < other.reference! ? -1 : 1))
        .map(({ reference, decision, removed }) => [reference, decision ?? null, removed ?? false]),
    /** The try-ons among the files of a folder. */
    files: (folder = "m") => world.names(folder).filter((name) => name.includes("tryon")),
  };
}

/** The name of the try-on of a product. */
export const dress = (at: number) => `DRESS-${at}_tryon_full-front.png`;
