import { type JsonObject, toSchema } from "../../src/contract/openapi/schemas.ts";
import { FaultOrder } from "../../src/mock/faults/fault-order.ts";
import { MockState } from "../../src/mock/snapshot/snapshot.ts";
import { stateNotes } from "./state-notes.ts";
import { comment, documentation } from "./type-text.ts";

interface Schema extends JsonObject {
  $ref?: string;
  const?: unknown;
  type?: string | string[];
  enum?: string[];
  anyOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  readOnly?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  description?: string;
}

const header = "// Made from the schemas of the mock by `npm run api-types`; a test compares both.\n\n";

/** The files of src/mock/api/ that are made from schemas, by name. */
export function mockFiles(): Record<string, string> {
  return { "faults.ts": faultsFile(), "state.ts": stateFile() };
}

function faultsFile(): string {
  const { properties = {} } = toSchema(FaultOrder, "input") as Schema;
  const { match, sequence, ...others } = properties;
  const isEffect = ([, field]: [string, Schema]) => field["x-acts-on"] !== undefined;
  const effects = Object.fromEntries(Object.entries(others).filter(isEffect));
  const often = Object.fromEntries(Object.entries(others).filter((entry) => !isEffect(entry)));
  const own = {
    properties: {
      match: { ...match!, ...ref("FaultMatch") },
      ...often,
      sequence: { ...sequence!, items: ref("FaultEffect"), readOnly: true },
    },
    required: ["match"],
  };
  return [
    header,
    comment("What a fault acts on: requests, a job, or deliveries of an event. All fields must fit."),
    declared("FaultMatch", match!),
    comment(
      "An effect of a fault: one field, or `status` with `headers` and `body`; none in an empty entry.",
    ),
    declared("FaultEffect", { properties: effects }),
    comment(
      "A fault: what it acts on, and its effect or a `sequence` of them (docs/mock-server.md, Faults).",
    ),
    declared("FaultOrder", own, "FaultEffect"),
  ].join("");
}

function stateFile(): string {
  const state = toSchema(MockState) as Schema;
  const organization = state.properties!.organizations!.properties!.main!;
  const records: [string, Schema][] = [];
  /** Gives the entries of the lists in an object names of their own. */
  const extract = (owner: Schema) => {
    for (const [name, list] of Object.entries(owner.properties!)) {
      if (list.items?.properties === undefined) continue;
      const singular = name.replace(/ies$/, "y").replace(/s$/, "");
      const record = `State${singular.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())}`;
      records.push([record, list.items]);
      list.items = ref(record);
    }
  };
  extract(organization);
  state.properties!.organizations!.properties = {
    main: ref("StateOrganization"),
    other: ref("StateOrganization"),
  };
  extract(state);
  const all: [string, Schema][] = [...records, ["StateOrganization", organization], ["MockState", state]];
  const used = new Set<string>();
  for (const [name, schema] of all) describe(schema, name, used);
  const unused = Object.keys(stateNotes).filter((path) => !used.has(path));
  if (unused.length > 0) throw new Error(`state-notes.ts describes ${unused}, which no state has`);
  return (
    header + all.map(([name, schema]) => comment(schema.description ?? "") + declared(name, schema)).join("")
  );
}

const ref = (name: string): Schema => ({ $ref: name });

/** Adds the descriptions of `stateNotes`: those of a path, else of the name of a field. */
function describe(schema: Schema, path: string, used: Set<string>): void {
  const name = path.split(".").at(-1)!;
  const key = path in stateNotes ? path : name;
  const note = stateNotes[key];
  if (note === undefined) throw new Error(`add ${path} to state-notes.ts`);
  used.add(key);
  schema.description = note;
  const inner = [schema, schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])];
  for (const one of inner)
    for (const [field, at] of Object.entries(one?.properties ?? {})) describe(at, `${path}.${field}`, used);
}

const declared = (name: string, schema: Schema, base?: string): string =>
  `export interface ${name}${base === undefined ? "" : ` extends ${base}`} {\n${fields(schema)}}\n\n`;

const fields = ({ properties = {}, required = [] }: Schema): string =>
  Object.entries(properties)
    .map(([name, field]) => {
      const isOptional = !required.includes(name);
      const type = typeOf(field);
      const given = isOptional && type !== "unknown" ? `${type} | undefined` : type;
      return `${comment(textOf(field))}${name}${isOptional ? "?" : ""}: ${given};\n`;
    })
    .join("");

/** The documentation of a field, without the section of the specification, and the last time of a Date. */
const textOf = (field: Schema): string =>
  documentation(field).replace(" (Limits)", "").replace(" At most 8,640,000,000,000,000.", "");

function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, items, prefixItems, properties, additionalProperties, readOnly } = schema;
  if ($ref !== undefined) return $ref;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (anyOf !== undefined) {
    const [known, other] = anyOf;
    if (known?.enum !== undefined && other?.type === "string" && other.enum === undefined)
      return `${typeOf(known)} | (string & {})`;
    return anyOf.map(typeOf).join(" | ");
  }
  if (prefixItems !== undefined) return `[${prefixItems.map(typeOf).join(", ")}]`;
  if (items !== undefined) return `${readOnly === true ? "readonly " : ""}(${typeOf(items)})[]`;
  if (properties !== undefined) return `{\n${fields(schema)}}`;
  if (typeof additionalProperties === "object") return `Record<string, ${typeOf(additionalProperties)}>`;
  const types = [type ?? "unknown"].flat();
  return types.map((one) => (one === "integer" ? "number" : one)).join(" | ");
}
