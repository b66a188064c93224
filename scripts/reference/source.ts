import type { CommandList, ListedCommand } from "../../src/cli/completion/command-list.ts";
import type { Context } from "../../src/cli/context/context.ts";
import type { Output } from "../../src/cli/context/standard-streams.ts";
import { main } from "../../src/cli/main.ts";
import type { CommandOutput } from "../../src/cli/reference/outputs.ts";

/** A generated file, by its path in the project. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** A command as `cat commands --json` prints it. */
export type DescribedCommand = ListedCommand & { readonly output: CommandOutput };

export interface Described extends CommandList {
  readonly commands: readonly DescribedCommand[];
}

/** What the program says about itself. */
export const describedCommands = async (): Promise<Described> =>
  JSON.parse(await printedBy("commands", "--json")) as Described;

/** The guide for agents, a file that the package has. */
export const skill = async (): Promise<GeneratedFile> => ({
  path: "skills/catalogue/SKILL.md",
  text: await printedBy("commands", "--skill"),
});

/** The output of a command, without a terminal, a service or a folder. */
async function printedBy(...argv: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const output: Output = {
    isTTY: false,
    columns: 80,
    rows: 24,
    raw: process.stdout,
    write: (text) => void printed.push(String(text)),
  };
  const context: Partial<Context> = {
    program: "cat",
    stdout: output,
    stderr: output,
    env: {},
    interrupt: new AbortController().signal,
  };
  if ((await main(argv, context as Context)) !== 0) throw new Error(printed.join(""));
  return printed.join("");
}

/** How the values are printed, in words. */
export const outputForm = ({ form, ndjson_with: flag }: CommandOutput): string =>
  form === "ndjson"
    ? "one JSON value per line"
    : `one JSON value${flag === undefined ? "" : `, or one per line with ${flag}`}`;

/** A field of an output: its path, e.g. `images[].id`, and its type. */
export interface Field {
  readonly path: string;
  readonly type: string;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
}

/** The shapes that an output can have, each as its fields. */
export const shapesOf = (schema: object): Field[][] => variants(schema).map((one) => [...fieldsOf(one, "")]);

/** The alternatives of a union of objects; a value that can be null has one. */
function variants(schema: Schema): Schema[] {
  const objects = (schema.anyOf ?? []).filter(({ type }) => type === "object");
  return objects.length > 1 ? objects.flatMap(variants) : [schema];
}

function* fieldsOf(schema: Schema, path: string): Generator<Field> {
  const inner = innerOf(schema);
  if (inner.items !== undefined) {
    const { properties } = innerOf(inner.items);
    if (properties === undefined) yield { path, type: `list of ${typeOf(inner.items)}` };
    else yield* fieldsOf(inner.items, `${path}[]`);
    return;
  }
  if (inner.properties === undefined) {
    if (path !== "") yield { path, type: typeOf(schema) };
    return;
  }
  for (const [name, one] of Object.entries(inner.properties)) {
    const at = path === "" ? name : `${path}.${name}`;
    const optional = inner.required?.includes(name) === true ? "" : "?";
    for (const field of fieldsOf(one, at))
      yield { path: field.path.replace(at, `${at}${optional}`), type: field.type };
  }
}

/** The schema without null. */
function innerOf(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== "null");
  return others?.length === 1 ? others[0]! : schema;
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  // A set that may grow has any text as its other alternative.
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.anyOf !== undefined) {
    const types = schema.anyOf.map(typeOf);
    return types.includes("string") && schema.type === "string"
      ? `${types[0]}, or another`
      : types.join(" or ");
  }
  if (schema.format === "date-time") return "time (RFC 3339)";
  if (schema.format === "uri") return "URL";
  return [schema.type ?? "any value"].flat().join(" or ");
}
