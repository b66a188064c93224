import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { toSchema } from "../../../src/contract/openapi/schemas.ts";
import { FaultOrder } from "../../../src/mock/faults/fault-order.ts";

interface Field {
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly "x-acts-on"?: readonly string[];
}

const page = fileURLToPath(new URL("../../../docs/mock-server.md", import.meta.url));

/** A row for each field of the schema, and those of `match` after it. */
function rowsOf(fields: Readonly<Record<string, Field>>, start = ""): string[] {
  return Object.entries(fields).flatMap(([name, { description, properties = {}, "x-acts-on": actsOn }]) => {
    const kinds = actsOn?.join(", ") ?? "all";
    const row = `| \`${start}${name}\` | ${kinds} | ${description?.replace(/\.$/, "")} |`;
    return name === "match" ? [row, ...rowsOf(properties, "match.")] : [row];
  });
}

test("docs/mock-server.md has every field of a fault, made from the schema (UPDATE_DOCS=1 writes it)", () => {
  const { properties } = toSchema(FaultOrder, "input") as { properties: Record<string, Field> };
  const table = ["| field | acts on | meaning |", "|---|---|---|", ...rowsOf(properties)].join("\n");
  const text = readFileSync(page, "utf8");
  const written = text.replace(
    /(?<=\n)\| field \| (?:acts on \| )?meaning \|\n(?:\|.*\n)+(?=\n\| case)/,
    () => `${table}\n`,
  );
  if (process.env.UPDATE_DOCS === "1") writeFileSync(page, written);
  else expect(text).toBe(written);
  expect(written).toContain(table);
});

test("every field of a fault has a label and a description", () => {
  const { properties } = toSchema(FaultOrder, "input") as { properties: Record<string, Field> };
  const { match, ...others } = properties;
  const fields = Object.entries({ ...others, ...match!.properties, ...others.fail!.properties });
  expect(fields.filter(([, { title, description }]) => !title || !description)).toEqual([]);
});
