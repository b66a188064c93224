import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Got } from "../mock/world.ts";

const document = openApiDocument({ serverUrl: "http://127.0.0.1:4010" });
const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: "openapi", ...document });

interface Response {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, unknown>;
}

/** The parts of a response that the OpenAPI document does not describe; empty if it describes everything. */
export function undocumented({ method, path }: Operation, { status, body, headers }: Got): string[] {
  const place = `#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${status}`;
  const { ref, value } = resolve<Response>(place);
  if (value === undefined) return [`${method} ${path}: ${status} is not in the document`];
  const problems: string[] = [];
  for (const [name, header] of Object.entries(value.headers ?? {})) {
    const declared = resolve<{ required?: boolean; schema: { type: string } }>(header.$ref);
    const text = headers.get(name);
    if (text === null) {
      if (declared.value?.required === true) problems.push(`${name} is missing`);
    } else {
      const isInteger = declared.value?.schema.type === "integer";
      problems.push(...against(`${declared.ref}/schema`, isInteger ? Number(text) : text));
    }
  }
  // Except for standard HTTP headers, every header is documented.
  for (const name of headers.keys()) {
    const known = Object.keys(value.headers ?? {}).map((one) => one.toLowerCase());
    if (!known.includes(name) && !ofHttp.has(name)) problems.push(`${name} is not in the document`);
  }
  if (value.content === undefined) return body === "" ? problems : [...problems, "the body is not empty"];
  return [...problems, ...against(`${ref}/content/application~1json/schema`, body)];
}

const ofHttp = new Set(["content-type", "content-length", "date", "connection", "keep-alive"]);

function against(ref: string, value: unknown): string[] {
  const validate = ajv.getSchema(`openapi${ref}`) ?? ajv.compile({ $ref: `openapi${ref}` });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${ref}: ${instancePath} ${message}`);
}

/** The object at a pointer of the document, and its pointer after resolving a reference. */
function resolve<T>(ref: string): { ref: string; value: T | undefined } {
  let value: unknown = document;
  for (const key of ref.slice(2).split("/")) value = (value as Record<string, unknown>)?.[plain(key)];
  const further = (value as { $ref?: string } | undefined)?.$ref;
  return further === undefined ? { ref, value: value as T } : resolve(further);
}

const pointer = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
const plain = (key: string) => key.replaceAll("~1", "/").replaceAll("~0", "~");
