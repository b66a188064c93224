import { writeFileSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import type { Kind, Look, ShopProduct } from "./looks.ts";

/** The IDs of products by reference. */
export type Ids = ReadonlyMap<string, string>;

/** The line of a row in the file. */
export const lineOf = (row: number, format: "csv" | "ndjson"): number => row + (format === "csv" ? 2 : 1);

/** Writes the rows as a try-on or beautify file. */
export function writeLooks(
  path: string,
  looks: readonly Look[],
  { kind, format, ids }: { kind: Kind; format: "csv" | "ndjson"; ids: Ids },
): void {
  const rows = looks.map((look) => fieldNames(look, kind, ids));
  if (format === "ndjson") {
    const lines = rows.map((fields, at) => JSON.stringify(objectOf(fields, looks[at]!, kind, at)));
    writeFileSync(path, `${lines.join("\n")}\n`);
    return;
  }
  const columns = Object.keys(fieldNames(looks[0]!, kind, ids));
  writeFileSync(path, stringify([columns, ...rows.map((fields) => columns.map((name) => fields[name]))]));
}

/** The cells of a row, by column. */
function fieldNames(look: Look, kind: Kind, ids: Ids): Record<string, string> {
  const idOf = ({ reference }: ShopProduct) => ids.get(reference)!;
  const products = look.products.map((one) => (look.byId ? idOf(one) : one.reference)).join("|");
  const common = {
    product_id: look.byId ? products : "",
    product_reference: look.byId ? "" : products,
    background: look.backgrounds.join("|"),
    angle_shot: look.angles.join("|"),
  };
  return kind === "beautify"
    ? { ...common, subtype: look.subtype!, style: look.styles.join("|") }
    : {
        ...common,
        model_id: look.models.map(({ named }) => named).join("|"),
        styling_product_ids: look.stylings.map((one) => (look.byId ? idOf(one) : one.reference)).join("|"),
        look_at_camera: look.looks.join("|"),
      };
}

/** The same as a JSON object: flat, or every third beautified shot in the service's own form. */
function objectOf(fields: Record<string, string>, look: Look, kind: Kind, at: number): object {
  const { styling_product_ids: stylings, look_at_camera: camera, ...texts } = fields;
  const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));
  if (kind === "beautify") {
    const { subtype, ...inputs } = given;
    return at % 3 === 0 ? { subtype, inputs } : given;
  }
  return {
    ...given,
    ...(stylings !== "" && { styling_product_ids: stylings!.split("|") }),
    ...(camera !== "" && { look_at_camera: look.looks.length === 1 ? look.looks[0] : camera }),
  };
}
