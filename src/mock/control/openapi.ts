import * as z from "zod";
import { errorCodes } from "../../contract/error-codes.ts";
import { type JsonObject, toSchema } from "../../contract/openapi/schemas.ts";
import type { World } from "../world/world.ts";

interface DescribedRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Starts with `/_mock`; parameters are in braces. */
  readonly path: string;
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly reply?: z.ZodType | null;
  /** The type of the response; default: JSON. */
  readonly type?: string;
  readonly query?: Readonly<Record<string, { schema: object; required?: boolean }>>;
}

export interface ControlRoute extends DescribedRoute {
  /** Null for any object. */
  readonly reply: z.ZodType | null;
  /** Returns the value of the response, or its JSON as a stream; may throw a `Rejection`. */
  readonly work: (world: World, body: Buffer, params: Readonly<Record<string, string>>) => unknown;
}

const codes = Object.keys(errorCodes) as [string, ...string[]];

/** The error of a control route: the envelope of the service, with every problem of a `PUT` or a fault. */
const ControlError = z.looseObject({
  error: z.looseObject({
    type: z.string(),
    code: z.enum(codes),
    message: z.string(),
    param: z.string().optional(),
  }),
  errors: z
    .array(z.looseObject({ code: z.enum(codes), message: z.string(), param: z.string().optional() }))
    .optional(),
});

/** The OpenAPI 3.1 document of the control routes and those of the page, made from their schemas. */
export function controlDocument(routes: readonly DescribedRoute[], serverUrl: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = toOperation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Control routes of the mock server",
      version: "1.0.0",
      summary: "Move the clock, make requests fail, and play what only the service makes.",
      description:
        "The routes need no API key. They accept only requests to this machine or an allowed host, and none from pages of another origin. Fields without a schema are for the page at /_mock, and may change with any version.",
    },
    servers: [{ url: serverUrl }],
    security: [],
    tags: [{ name: "mock", description: "The state of the mock." }],
    paths,
    components: { schemas: { ControlError: toSchema(ControlError) } },
  };
}

function toOperation(route: DescribedRoute): JsonObject {
  const { method, path, summary, body, reply = null, type = "application/json", query = {} } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const schema =
    reply === null ? { type: type === "application/json" ? "object" : "string" } : toSchema(reply);
  return {
    operationId: [method.toLowerCase(), ...path.split(/\W+/).slice(2)].filter(Boolean).join("_"),
    summary,
    tags: ["mock"],
    parameters: [
      ...names.map((name) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
        description: `The ${name.replaceAll("_", " ").replace(/\bid$/, "ID")}.`,
      })),
      ...Object.entries(query).map(([name, more]) => ({ name, in: "query", ...more })),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: method !== "PUT",
        content: { "application/json": { schema: toSchema(body, "input") } },
      },
    }),
    responses: {
      200: { description: "Success.", content: { [type]: { schema } } },
      default: {
        description: "The request was rejected.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/ControlError" } } },
      },
    },
  };
}
