import type { JsonObject } from "../../src/contract/openapi/schemas.ts";
import { eventTypes, orientations } from "../../src/contract/value-sets.ts";

/** A schema of the OpenAPI document, as far as the contract uses JSON Schema. */
interface Schema extends JsonObject {
  $ref?: string;
  type?: string | string[];
  enum?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
}

/** Writes schemas as TypeScript, and collects the components that they name. */
export class TypeText {
  /** The names of the components in the texts so far. */
  readonly named = new Set<string>();

  /** `isSent`: the value is part of a request, so that its fields may be undefined and its lists read-only. */
  constructor(readonly isSent: boolean) {}

  /** The type of a value. `path` is its component and fields: `Product.sex`. */
  of(schema: Schema, path: string): string {
    const text = this.#of(schema, path);
    return withoutReference.has(path) ? `${text} | null` : text;
  }

  /** The fields of an object, each with its documentation. */
  fields({ properties = {}, required = [] }: Schema, path: string): string {
    return Object.entries(properties)
      .map(([name, field]) => {
        const isOptional = !required.includes(name);
        const text = this.of(field, `${path}.${name}`) + (isOptional && this.isSent ? " | undefined" : "");
        return `${comment(documentation(field))}${name}${isOptional ? "?" : ""}: ${text};\n`;
      })
      .join("");
  }

  #of(schema: Schema, path: string): string {
    const { $ref, type, anyOf, items, properties } = schema;
    if ($ref !== undefined) {
      const name = $ref.split("/").at(-1)!;
      this.named.add(name);
      return name;
    }
    if (schema.enum !== undefined) return literals(schema.enum);
    if (anyOf !== undefined) {
      const [known, other] = anyOf;
      // A set that can grow: its known values, or any other text.
      if (anyOf.length === 2 && known?.enum !== undefined && other?.type === "string") {
        return `${literals(known.enum)} | (string & {})`;
      }
      return anyOf.map((one) => this.#of(one, path)).join(" | ");
    }
    if (Array.isArray(type)) return type.map((one) => this.#of({ type: one }, path)).join(" | ");
    if (items !== undefined) {
      const entry = this.#of(items, path);
      const isUnion = items.anyOf !== undefined || Array.isArray(items.type) || entry.startsWith('"');
      return `${this.isSent ? "readonly " : ""}${isUnion ? `(${entry})` : entry}[]`;
    }
    if (properties !== undefined) return `{\n${this.fields(schema, path)}}`;
    if (type === "object") return "Record<string, unknown>";
    if (type === "integer") return "number";
    if (type === "string" || type === "number" || type === "boolean" || type === "null") return type;
    throw new Error(`scripts/api-types cannot write the type of ${path}: ${JSON.stringify(schema)}`);
  }
}

/** Products created in the dashboard have no reference, although the specification says string (Product). */
const withoutReference = new Set(["Product.reference", "ExportRow.product.reference"]);

/** The sets that have a name of their own. */
const namedSets = new Map([
  [eventTypes.join(), "EventType"],
  [orientations.join(), "Orientation"],
]);

const literals = (values: readonly string[]): string =>
  namedSets.get(values.join()) ?? values.map((one) => JSON.stringify(one)).join(" | ");

/** The documentation of a field: its meaning, then its shape and limits. */
export function documentation(schema: Schema): string {
  const { description = "", items, anyOf = [] } = schema;
  const notes = [shapeOf(schema), ...anyOf.map(shapeOf), items === undefined ? "" : entriesOf(items)];
  const { examples, default: byDefault } = schema as { examples?: string[]; default?: unknown };
  if (examples !== undefined) notes.push(`For example ${examples.map((one) => `\`${one}\``).join(", ")}.`);
  if (byDefault !== undefined) notes.push(`Default: ${byDefault}.`);
  const isSaid = (note: string) =>
    description.includes(note) || (note === "A URL." && description.includes("URL"));
  const said = new Set(notes.filter((note) => note !== "" && !isSaid(note)));
  return [description, ...said].filter((text) => text !== "").join(" ");
}

const ulid = /^\^\[0-7\]\[0-9A-HJ/;

function shapeOf(schema: JsonObject): string {
  const { format, pattern, minLength, maxLength, minItems, maxItems, minimum, maximum } = schema as {
    [name: string]: string & number;
  };
  if (format === "date-time") return "RFC 3339, in UTC.";
  if (format === "uri") return "A URL.";
  if (typeof pattern === "string" && ulid.test(pattern)) return "A ULID: 26 characters.";
  if (maxLength !== undefined) return `${between(minLength, maxLength)} characters (Limits).`;
  if (minLength !== undefined) return "Not empty.";
  if (maxItems !== undefined) return `${between(minItems, maxItems)} entries (Limits).`;
  if (minItems !== undefined) return "At least one entry.";
  if (maximum !== undefined) return `${between(minimum, maximum)} (Limits).`;
  return "";
}

const entriesOf = (items: JsonObject): string => {
  const shape = shapeOf(items);
  return shape === "A ULID: 26 characters." ? "ULIDs: 26 characters each." : "";
};

const between = (min: number | undefined, max: number): string =>
  min === undefined || min === 0
    ? `At most ${max.toLocaleString("en")}`
    : `${min} to ${max.toLocaleString("en")}`;

/** A documentation comment of a text and tags, wrapped like the rest of the code; empty without a text. */
export function comment(text: string, ...tags: readonly string[]): string {
  const width = 108;
  const lines: string[] = [];
  for (const paragraph of [...text.split("\n"), ...tags]) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      line += line === "" ? word : ` ${word}`;
    }
    lines.push(line);
  }
  if (text === "") return "";
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */\n`;
}
