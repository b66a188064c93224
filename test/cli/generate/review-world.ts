import { generateWorld } from "./generate-world.ts";

const header =
  "line,task_id,status,product_id,product_reference,model_id,background,angle_shot,decision,note,decided_at";

/** What a person decides about an image: a decision, and a note. */
type Decided = readonly [decision: "approve" | "reject" | "", note?: string, at?: string];

/** A mock with so many try-ons of looks.csv, which have succeeded. */
export async function reviewWorld(looks = 3, more = "") {
  const world = await generateWorld();
  world.looks(...Array.from({ length: looks }, (_, at) => `DRESS-${at + 1},Amara,studio,full-front`));
  const ran = await world.cat(`tryon looks.csv --yes --json ${more}`.trim());
  const { run_id } = JSON.parse(ran.stdout) as { run_id: string };
  return {
    ...world,
    run: run_id,
    /** Writes a file of decisions about the first images, in the order of the tasks. */
    review(file: string, ...decided: readonly Decided[]) {
      const rows = world
        .tasks()
        .slice(0, decided.length)
        .map(({ id, product_id, scene }, at) => {
          const { person, background, angle_shot } = scene;
          const [decision, note = "", time = ""] = decided[at]!;
          const look = [product_id, "", person!.id, background, angle_shot];
          return [at + 2, id, "succeeded", ...look, decision, note, time].join();
        });
      world.write(file, `${[header, ...rows].join("\n")}\n`);
    },
  };
}
