import { isDeepStrictEqual } from "node:util";
import { errorCodes } from "../../src/contract/error-codes.ts";
import { limits } from "../../src/contract/limits.ts";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { tagNotes } from "../../src/contract/openapi/notes.ts";
import type { JsonObject } from "../../src/contract/openapi/schemas.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { operations } from "../../src/contract/operations.ts";
import { codeNotes } from "./code-notes.ts";
import { comment, documentation, TypeText } from "./type-text.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is read by paths.
const document = openApiDocument({ serverUrl: "" }) as any;
const components = document.components.schemas as Record<string, JsonObject>;

const header = "// Made from the contract by `npm run api-types`; a test compares it with the contract.\n";

/** The files of src/client/api/ by name: the types of each resource, of the errors, and of `operations`. */
export function apiFiles(): Record<string, string> {
  const files = Object.keys(operations).map((resource) => [`${resource}.ts`, resourceFile(resource)]);
  return { ...Object.fromEntries(files), "errors.ts": errorsFile(), "operations.ts": operationsFile() };
}

/** One operation with what the types show of it. */
interface Call {
  readonly resource: string;
  readonly verb: string;
  readonly operation: Operation;
  /** The name of its input, or null if it has none. */
  readonly input: string | null;
  readonly isInputOptional: boolean;
  readonly reply: string;
  /** The entry of its pages; null unless it is a list. */
  readonly entry: string | null;
}

function callsOf(resource: string): Call[] {
  const verbs = Object.entries(operations[resource as keyof typeof operations]);
  return verbs.map(([verb, one]) => {
    const operation = one as unknown as Operation;
    const { method, status } = operation;
    const object = document.paths[operation.path][method.toLowerCase()];
    const schema = object.responses[status].content?.["application/json"].schema;
    const reply = schema === undefined ? "null" : replyOf(schema);
    const hasInput = fieldsOf(operation).length > 0 || operation.body !== undefined;
    return {
      ...{ resource, verb, operation, reply },
      input: hasInput ? `${pascal(resource) + pascal(verb)}Input` : null,
      isInputOptional:
        Object.keys(operation.params.shape).length === 0 && object.requestBody?.required !== true,
      entry: /^Page<(\w+)>$/.exec(reply)?.[1] ?? null,
    };
  });
}

/** Lists and pages are written in place, other components by name. */
function replyOf({ $ref }: { $ref: string }): string {
  const name = $ref.split("/").at(-1)!;
  const { type, items, properties } = components[name] as {
    type: string;
    items?: { $ref: string };
    properties?: Record<string, { items?: { $ref: string } }>;
  };
  if (type === "array") return `${replyOf(items!)}[]`;
  if (properties?.next_cursor !== undefined) return `Page<${replyOf(properties.data!.items!)}>`;
  return name;
}

interface Parameter extends JsonObject {
  name: string;
  in: string;
}

const fieldsOf = ({ path, method }: Operation): Parameter[] =>
  document.paths[path][method.toLowerCase()].parameters.filter((one: JsonObject) => "name" in one);

function resourceFile(resource: string): string {
  const calls = callsOf(resource);
  const sent = new TypeText(true);
  const received = new TypeText(false);
  const inputs = calls.flatMap((call) => (call.input === null ? [] : [inputOf(call, sent)])).join("\n");
  for (const { reply } of calls) {
    const name = /^(?:Page<)?(\w+)(?:>|\[\])?$/.exec(reply)![1]!;
    if (name in components) received.named.add(name);
  }
  const types = [...componentsOf(received, resource), ...componentsOf(sent, resource)];
  const methods = calls.map(methodOf).join("\n");
  const body = `${types.join("\n")}\n${inputs}\n${comment(
    `${tagNotes[resource]} Specification: Endpoints, ${pascal(resource)}.`,
  )}export interface ${pascal(resource)}Api {\n${methods}}\n`;
  return header + importsFor(body) + body;
}

/** The components that the texts name, and those that they name in turn. */
function componentsOf(text: TypeText, resource: string): string[] {
  const written: string[] = [];
  for (const name of text.named) {
    const schema = components[name]!;
    const about = comment(`${schema.description} Specification: ${clauseOf(name, resource)}.`);
    const base = [...text.named].find((other) => isExtended(other, name));
    const own = base === undefined ? schema : { ...schema, properties: addedFields(base, name) };
    const heading = `${name}${base === undefined ? "" : ` extends ${base}`}`;
    written.push(`${about}export interface ${heading} {\n${text.fields(own, name)}}\n`);
  }
  return written;
}

/** The fields of a component that another one does not have. */
const addedFields = (base: string, name: string): JsonObject =>
  Object.fromEntries(Object.entries(propertiesOf(name)).filter(([field]) => !(field in propertiesOf(base))));

/** Whether a component has all fields of another one, and its name with more: `Webhook` and `WebhookWithSecret`. */
const isExtended = (base: string, name: string): boolean =>
  base !== name &&
  name.startsWith(base) &&
  Object.entries(propertiesOf(base)).every(([field, schema]) =>
    isDeepStrictEqual(propertiesOf(name)[field], schema),
  );

const propertiesOf = (name: string): JsonObject => (components[name]!.properties ?? {}) as JsonObject;

const described = /^(Product|Image|ExportRow|ExportJob|Task|Import|ImportRowResult|Model|Webhook)$/;
const clauseOf = (name: string, resource: string): string =>
  described.test(name) ? `Resources and their fields, ${name}` : `Endpoints, ${pascal(resource)}`;

/** The input of an operation: path and query parameters by name, and the forms of its body. */
function inputOf({ input, operation, verb, resource, isInputOptional }: Call, sent: TypeText): string {
  const about = comment(`The input of \`client.${resource}.${verb}\`.`);
  const isId = isOfGet(resource, verb, operation);
  const id = isId ? `${pascal(resource)}GetInput` : null;
  const fields = fieldsOf(operation)
    .filter(({ in: place }, index) => !(isId && place === "path" && index === 0))
    .map(({ name, schema, in: place, description }) => {
      const type = sent.of(schema as JsonObject, `${input}.${name}`);
      const isOptional = place === "query";
      return `${comment(documentation({ ...(schema as JsonObject), description } as JsonObject))}${name}${isOptional ? "?" : ""}: ${type}${isOptional ? " | undefined" : ""};\n`;
    });
  const { body } = operation;
  if (body === undefined && id !== null && fields.length === 0)
    return `${about}export type ${input} = ${id};\n`;
  if (body === undefined)
    return `${about}export interface ${input}${id === null ? "" : ` extends ${id}`} {\n${fields.join("")}}\n`;
  const { content } = document.paths[operation.path][operation.method.toLowerCase()].requestBody;
  const json = Object.entries<{ schema: JsonObject }>(content).find(([type]) => /[/+]json$/.test(type));
  if (json === undefined) return `${about}export type ${input} = Upload;\n`;
  const form = `${isInputOptional ? "OptionalJsonBody" : "JsonBody"}<${sent.of(json[1].schema, input!)}>`;
  if ("application/x-ndjson" in content) {
    // Options are sent in a JSON body, or in the query with NDJSON (Imports).
    const rows = comment(documentation({ description: content["application/x-ndjson"].schema.description }));
    return `${about}export type ${input} = ${form} | {\n${rows}ndjson: Uint8Array | string;\nbody?: never;\njson?: never;\n${fields.join("")}};\n`;
  }
  const own = fields.length === 0 ? null : `{\n${fields.join("")}}`;
  return `${about}export type ${input} = ${[id, own, form].filter((part) => part !== null).join(" & ")};\n`;
}

/** Whether an operation takes the ID that `get` of its resource takes. */
function isOfGet(resource: string, verb: string, { params }: Operation): boolean {
  const { get } = operations[resource as keyof typeof operations] as { get?: Operation };
  const [id] = Object.keys(get?.params.shape ?? {});
  return verb !== "get" && id !== undefined && id in params.shape;
}

/** The method of an operation, and the one that reads all pages of a list. */
function methodOf({ operation, resource, verb, input, isInputOptional, reply, entry }: Call): string {
  const { method, path, scope, summary } = operation;
  const parameter = input === null ? "" : `input${isInputOptional ? "?" : ""}: ${input}, `;
  const own = Object.entries(operation.rejects).flatMap(([status, codes]) =>
    codes!.map((code) => `${status} \`${code}\``),
  );
  const clause = `Endpoints, ${pascal(resource)}`;
  const what = `\`${method} ${path}\` with the scope \`${scope}\` (${clause}).`;
  const list =
    operation.rejectionList === undefined
      ? ""
      : " A 400 can list every problem of the input: see `problems` of `ApiError`.";
  const errors = `@throws {ApiError} ${[...own, "the errors of every request (see `ErrorCode`)"].join(", ")}.${list}`;
  const polled =
    operation.polled === true && method === "GET" ? " Use `client.poll` to wait until the job ends." : "";
  const first = `${comment(`${summary}.${polled} ${what}`, errors)}${verb}(${parameter}options?: CallOptions): Promise<${reply}>;\n`;
  if (entry === null) return first;
  const all = comment(
    `All entries of \`${verb}\`, page by page, with its errors. ` +
      `\`limit\` is the size of a page (default: ${limits.page.max}).`,
  );
  return `${first}\n${all}${verb}All(${parameter}options?: ListOptions): Entries<${entry}>;\n`;
}

function errorsFile(): string {
  const codes = Object.entries(errorCodes).map(
    ([code, { status }]) => `- \`${code}\` (${status}): ${codeNotes[code as keyof typeof errorCodes]}`,
  );
  const { type } = (
    components.Error as { properties: { error: { properties: { type: { enum: string[] } } } } }
  ).properties.error.properties;
  const union = (values: readonly string[]) => values.map((one) => JSON.stringify(one)).join(" | ");
  return (
    header +
    comment("The type of an error of the service: switch on it for behavior. Specification: Errors.") +
    `export type ErrorType = ${union(type.enum)};\n\n` +
    comment(
      "The code of an error of the service: switch on it for messages. The service may add codes. Specification: Errors, Known codes.",
      ...codes,
    ) +
    `export type ErrorCode = ${union(Object.keys(errorCodes))};\n`
  );
}

function operationsFile(): string {
  const groups = Object.keys(operations).map((resource) => {
    const ofResource = (type: string) =>
      type.replace(/\b[A-Z]\w+/g, (name) => (name === "Page" ? name : `${pascal(resource)}.${name}`));
    const values = callsOf(resource).map(({ verb, operation: { summary, method, path }, input, reply }) => {
      const types = [input === null ? "NoInput" : ofResource(input), ofResource(reply), `"${method}"`];
      const about = comment(`${summary}: \`${method} ${path}\`.`);
      return `${about}readonly ${verb}: Operation<${types.join(", ")}>;\n`;
    });
    return `${comment(tagNotes[resource]!)}readonly ${resource}: {\n${values.join("")}};\n`;
  });
  const body = `${comment(
    "Every operation of the service as a value, by resource: for `exchange`, `paginate` and `poll` of the client.",
  )}export interface Operations {\n${groups.join("")}}\n`;
  const files = Object.keys(operations).map(
    (resource) => `import type * as ${pascal(resource)} from "./${resource}.ts";\n`,
  );
  return `${header}${importsFor(body).trimEnd()}\n${files.join("")}\n${body}`;
}

/** The imports of the names that a file uses and does not declare. */
function importsFor(body: string): string {
  const declared = new Set([...body.matchAll(/^export (?:interface|type) (\w+)/gm)].map((match) => match[1]));
  const code = body.replaceAll(/\/\*\*.*?\*\//gs, "");
  const used = new Set([...code.matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name));
  const from = (path: string, names: readonly string[]) => {
    const wanted = [...new Set(names)].filter((name) => used.has(name) && !declared.has(name)).sort();
    return wanted.length === 0 ? "" : `import type { ${wanted.join(", ")} } from "${path}";\n`;
  };
  const shared = [
    "CallOptions",
    "Entries",
    "JsonBody",
    "ListOptions",
    "NoInput",
    "Operation",
    "OptionalJsonBody",
    "Page",
    "Upload",
  ];
  const sets = from("../../contract/value-sets.ts", ["EventType", "Orientation"]);
  return `${sets}${from("./calls.ts", shared)}\n`;
}

const pascal = (text: string): string => text[0]!.toUpperCase() + text.slice(1);
