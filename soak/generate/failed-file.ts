import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { counted, type FoundTask, type GenerateFault, keyOf } from "./compare.ts";
import { expand, modelIdOf } from "./looks.ts";
import type { Ids } from "./looks-file.ts";

/** What the failed file of a run must have: the images of its rows, and the tasks that failed. */
export interface WantedFailures {
  /** The key of each image that was rejected, or whose task failed. */
  readonly keys: readonly string[];
  readonly tasks: readonly FoundTask[];
  readonly ids: Ids;
}

/** Whether the failed file asks for each image that failed, and for nothing else, and names each task that failed. */
export function failedFileFaults(
  path: string | undefined,
  { keys, tasks, ids }: WantedFailures,
): GenerateFault[] {
  const faults: GenerateFault[] = [];
  const wrong = (what: string) => faults.push({ kind: "wrong failed file", what });
  const rows = path === undefined ? [] : rowsOf(path);
  const found = rows.flatMap((row) => imagesOf(row, ids).map((key) => ({ key, row })));
  const [want, is] = [counted(keys), counted(found.map(({ key }) => key))];
  for (const key of new Set([...want.keys(), ...is.keys()]))
    if (want.get(key) !== is.get(key))
      wrong(`${key} is in ${is.get(key) ?? 0} rows instead of ${want.get(key) ?? 0}`);
  const failed = new Map(tasks.filter(({ status }) => status === "failed").map((task) => [task.id, task]));
  for (const { key, row } of found) {
    const id = /\(task (\w+)\)$/.exec(row.error_message ?? "")?.[1];
    if (row.error_code === undefined || row.error_code === "") wrong(`${key} has no reason`);
    if (id === undefined) continue;
    if (failed.get(id)?.key !== key)
      wrong(`${key} names task ${id}, which is not its own, or is named twice`);
    failed.delete(id);
  }
  for (const { id } of failed.values()) wrong(`task ${id} failed and is not named`);
  return faults;
}

/** The path of the failed file that was written last; undefined where there is none. */
export function newestFailedFile(cwd: string): string | undefined {
  const names = readdirSync(cwd).filter((name) => /^looks\.failed(-\d+)?\./.test(name));
  const newest = names.sort((one, other) => numberOf(one) - numberOf(other)).at(-1);
  return newest === undefined ? undefined : join(cwd, newest);
}

const numberOf = (name: string): number => Number(/-(\d+)\./.exec(name)?.[1] ?? 1);

type Row = Readonly<Record<string, string>>;

/** The rows by column, whatever the format and the form. */
function rowsOf(path: string): Row[] {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (path.endsWith(".csv")) return parse(text, { columns: true }) as Row[];
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { inputs, styling_product_ids: stylings, look_at_camera: look, ...fields } = JSON.parse(line);
      return {
        ...{ ...fields, ...inputs },
        styling_product_ids: Array.isArray(stylings) ? stylings.join("|") : "",
        look_at_camera: look === undefined ? "" : String(look),
      };
    });
}

/** The key of each image that a row asks for. */
function imagesOf(row: Row, ids: Ids): string[] {
  const references = new Map([...ids].map(([reference, id]) => [id, reference]));
  const parts = (text: string | undefined) => (text ?? "").split("|").filter((part) => part !== "");
  const product = (name: string) => ({
    ...({ reference: references.get(name) ?? name, photo: "unlabeled", isDoomed: false } as const),
  });
  const names = parts(row.product_id || row.product_reference);
  return expand(
    {
      products: names.map(product),
      byId: false,
      models: parts(row.model_id).map((named) => ({ id: modelIdOf(named), named })),
      stylings: parts(row.styling_product_ids).map(product),
      backgrounds: parts(row.background),
      angles: parts(row.angle_shot),
      looks: parts(row.look_at_camera).map((look) => look === "true"),
      subtype: (row.subtype || null) as never,
      styles: parts(row.style),
    },
    0,
  ).map((image) => keyOf(image, ids));
}
