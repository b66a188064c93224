/** The fields of a resource by name, with those of the objects and lists in them. */
export interface FieldTree {
  /** Null for a value or a list. */
  readonly fields: Readonly<Record<string, FieldTree>> | null;
  /** The entries of a list; null for anything else. */
  readonly entries: FieldTree | null;
}

/** The parts of a response that a client relies on, as data (`toShape`). */
export interface Shape extends FieldTree {
  readonly fields: Readonly<Record<string, Shape>> | null;
  readonly entries: Shape | null;
  /** Missing: any value passes, or none. */
  readonly check?: Check;
}

export interface Check {
  readonly kind: "object" | "list" | "text" | "URL" | "integer" | "boolean";
  /** Whether null passes; an absent value is then read as null. */
  readonly isNullable?: boolean;
  readonly isOptional?: boolean;
  /** A regular expression for a text, and what it means. */
  readonly pattern?: string;
  readonly meaning?: string;
  /** The only texts that pass. */
  readonly values?: readonly string[];
  /** The smallest integer that passes. */
  readonly min?: number;
}

/** A value that has the shape, or where it has not and why. */
export type Reading<Value> =
  | { readonly value: Value; readonly mismatch?: undefined }
  | { readonly value?: undefined; readonly mismatch: { readonly path: string; readonly message: string } };

/**
 * Reads parsed JSON by a shape. The fields of objects come in the order of the shape, so that output has the
 * order of the contract; others follow. What passes is returned itself, and lists get their entries as read.
 */
export function readAs<Value>(shape: Shape, json: unknown): Reading<Value> {
  const value = toReader(shape)(json);
  if (!(value instanceof Mismatch)) return { value: value as Value };
  return { mismatch: { path: value.path.join("."), message: value.message } };
}

class Mismatch {
  readonly path: (string | number)[] = [];

  constructor(readonly message: string) {}

  /** The same mismatch in the value around it. */
  at(name: string | number): this {
    this.path.unshift(name);
    return this;
  }
}

/** Reads a value; a value that passes unchanged is returned itself. */
type Reader = (value: unknown) => unknown;

const knownReaders = new WeakMap<Shape, Reader>();

function toReader(shape: Shape): Reader {
  const known = knownReaders.get(shape);
  if (known !== undefined) return known;
  const reader = shape.check === undefined ? readAny : checkedReader(shape, shape.check);
  knownReaders.set(shape, reader);
  return reader;
}

const readAny: Reader = (value) => value;

function checkedReader(shape: Shape, check: Check): Reader {
  const { isNullable = false, isOptional = false } = check;
  const read = kinds[check.kind](shape, check);
  return (value) => {
    if (value === undefined && isOptional) return value;
    if (isNullable && (value === null || value === undefined)) return null;
    return read(value);
  };
}

const kinds: Readonly<Record<Check["kind"], (shape: Shape, check: Check) => Reader>> = {
  object({ fields }) {
    const shapes = Object.entries(fields ?? {});
    const positions = new Map(shapes.map(([name], index) => [name, index]));
    const checked = shapes.filter(([, field]) => field.check !== undefined);
    const readers = checked.map(([name, field]) => [name, toReader(field)] as const);
    return (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return isNot("an object", value);
      const object = value as Readonly<Record<string, unknown>>;
      const replaced: [name: string, value: unknown][] = [];
      for (const [name, readField] of readers) {
        const given = object[name];
        const read = readField(given);
        if (read instanceof Mismatch) return read.at(name);
        if (read !== given) replaced.push([name, read]);
      }
      if (replaced.length === 0 && hasOrder(object, positions)) return object;
      return orderedBy({ ...object, ...Object.fromEntries(replaced) }, positions);
    };
  },
  list({ entries }) {
    const readEntry = toReader(entries!);
    return (value) => {
      if (!Array.isArray(value)) return isNot("a list", value);
      for (const [index, entry] of value.entries()) {
        const read = readEntry(entry);
        if (read instanceof Mismatch) return read.at(index);
        value[index] = read;
      }
      return value;
    };
  },
  text(_, { pattern, meaning, values }) {
    const expression = pattern === undefined ? null : new RegExp(pattern, "u");
    return (value) => {
      if (typeof value !== "string") return isNot("a text", value);
      if (expression?.test(value) === false) return new Mismatch(meaning!);
      if (values?.includes(value) === false) return new Mismatch(`must be one of ${values.join(", ")}`);
      return value;
    };
  },
  URL: () => (value) => (typeof value === "string" && URL.canParse(value) ? value : isNot("a URL", value)),
  integer: (_, { min = Number.MIN_SAFE_INTEGER }) => {
    return (value) => {
      if (!Number.isSafeInteger(value)) return isNot("an integer", value);
      return (value as number) >= min ? value : new Mismatch(`must be at least ${min}`);
    };
  },
  boolean: () => (value) => (typeof value === "boolean" ? value : isNot("true or false", value)),
};

const isNot = (what: string, value: unknown): Mismatch =>
  new Mismatch(value === undefined ? "is missing" : `must be ${what}`);

/** Whether the fields of the shape come first in an object, in the order of their positions. */
function hasOrder(
  object: Readonly<Record<string, unknown>>,
  positions: ReadonlyMap<string, number>,
): boolean {
  let next = 0;
  for (const name in object) {
    const position = positions.get(name) ?? positions.size;
    if (position < next) return false;
    next = position;
  }
  return true;
}

function orderedBy(
  object: Readonly<Record<string, unknown>>,
  positions: ReadonlyMap<string, number>,
): Record<string, unknown> {
  const known = [...positions.keys()].filter((name) => Object.hasOwn(object, name));
  const others = Object.keys(object).filter((name) => !positions.has(name));
  // Unlike an assignment, this can make a field with the name `__proto__`.
  return Object.fromEntries([...known, ...others].map((name) => [name, object[name]]));
}
