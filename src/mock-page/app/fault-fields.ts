/** The kinds of requests and events that a fault can act on. */
export const kinds = { request: "requests", job: "jobs", delivery: "webhook deliveries" } as const;
export type Kind = keyof typeof kinds;

/** A field of the schema of faults, as /_mock/openapi.json has it. */
export interface Schema {
  title?: string;
  description?: string;
  type?: string;
  enum?: string[];
  examples?: string[];
  properties?: Record<string, Schema>;
  "x-acts-on"?: Kind[];
  /** The field that this one belongs to. */
  "x-with"?: string;
}

/** A field of the form; `path` is its place in the fault. */
export interface FaultField {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

const isFor = ({ "x-acts-on": actsOn }: Schema, kind: Kind) => actsOn?.includes(kind) === true;

/** The effects that a kind of fault can have, and the fields that a fault with one of them has. */
export function visibleFields(schema: Schema, kind: Kind, effect: string) {
  const all = Object.entries(schema.properties!);
  const effects = all
    .filter(([name, one]) => name === "sequence" || (isFor(one, kind) && one["x-with"] === undefined))
    .map(([name, one]): [string, string] => [name, one.title!]);
  const toFields = (entries: [string, Schema][], start: string, isRequired: (name: string) => boolean) =>
    entries.map(
      ([name, one]): FaultField => ({ path: start + name, schema: one, isRequired: isRequired(name) }),
    );
  const ofEffect = all.filter(([name, one]) => name === effect || one["x-with"] === effect);
  return {
    effects,
    match: toFields(
      Object.entries(schema.properties!.match!.properties!).filter(([, one]) => isFor(one, kind)),
      "match.",
      (name) => name === "job" || name === "event",
    ),
    effect: ofEffect.flatMap(([name, one]) =>
      one.properties === undefined
        ? toFields([[name, one]], "", () => name === effect)
        : toFields(Object.entries(one.properties), `${name}.`, () => true),
    ),
    often: toFields(
      all.filter(([name, one]) => one["x-acts-on"] === undefined && !["match", "sequence"].includes(name)),
      "",
      () => false,
    ).filter(({ path }) => effect !== "sequence" || path !== "times"),
  };
}

/** The fault as the mock takes it. */
export function toOrder(fields: readonly FaultField[], values: Readonly<Record<string, string>>): object {
  const order: Record<string, Record<string, unknown>> & { match: object } = { match: {} };
  for (const { path, schema } of fields) {
    const text = values[path] ?? "";
    if (text.trim() === "") continue;
    const [name, inner] = path.split(".") as [string, string?];
    const value = toValue(schema, text) as Record<string, unknown>;
    if (inner === undefined) order[name] = value;
    else order[name] = { ...order[name], [inner]: value };
  }
  return order;
}

function toValue({ type }: Schema, text: string): unknown {
  if (type === "string") return text;
  if (type === "integer" || type === "number") return Number(text);
  return type === "object" ? toNames(text) : toBody(text);
}

/** `Name: value` sets a name, a name alone is null. */
const toNames = (text: string): Record<string, string | null> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const colon = line.indexOf(":");
        return colon < 0 ? [line.trim(), null] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
  );

/** The value of a JSON object or list; any other text is sent as it is. */
function toBody(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
