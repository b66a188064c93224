import type * as z from "zod";
import type { BodySchemas, Operation } from "../../contract/operation.ts";
import type { Operations } from "../../contract/operations.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";

/** A request body by content type: the output of the schema, or the bytes of NDJSON. */
export type BodyOf<Body extends BodySchemas | undefined> = Body extends BodySchemas
  ? {
      [Type in keyof Body]: {
        type: Type;
        value: Type extends "application/x-ndjson"
          ? Buffer
          : Body[Type] extends z.ZodType
            ? z.output<Body[Type]>
            : never;
      };
    }[keyof Body]
  : null;

/** A request that passed every check: the input of a handler. */
export interface Call<Op extends Operation = Operation> {
  readonly world: World;
  readonly organization: Organization;
  readonly params: z.output<Op["params"]>;
  readonly query: z.output<Op["query"]>;
  readonly body: BodyOf<Op["body"]>;
}

/** The success body, or its ready-made JSON, and `Retry-After` in seconds while a job runs. */
export type Result<Op extends Operation = Operation> = (
  | { readonly body: Op["reply"] extends z.ZodType ? z.output<Op["reply"]> : null; readonly json?: never }
  | { readonly json: string; readonly body?: never }
) & { readonly retryAfter?: number | undefined };

/** The work of one operation. Rejects a request by throwing a `Refusal`. */
export type Handler<Op extends Operation = Operation> = (call: Call<Op>) => Result<Op>;

/** One handler per operation of the contract: a missing or extra one does not compile. */
export type Handlers = {
  readonly [Resource in keyof Operations]: {
    readonly [Verb in keyof Operations[Resource]]: Operations[Resource][Verb] extends Operation
      ? Handler<Operations[Resource][Verb]>
      : never;
  };
};
