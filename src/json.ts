// The one reader of JSON that comes from outside: files, responses, deliveries, and what others can edit.

/** The deepest nesting that is read: deeper values end recursive code, such as `JSON.stringify`. */
const mostLevels = 100;

/** JSON that is nested too deeply. It is a SyntaxError, because it is rejected wherever invalid JSON is. */
export class DeepJsonError extends SyntaxError {
  override readonly name = "DeepJsonError";
  /** The line of the text that is too deep, from 1. */
  readonly line: number;

  constructor(text: string) {
    super(`JSON nested deeper than ${mostLevels} levels`);
    this.line = text.slice(0, deepParts(text)[0]?.[0]).split("\n").length;
  }
}

/** Parses JSON. Throws a SyntaxError, or a DeepJsonError for more than 100 levels. */
export function parseJson(text: string): unknown {
  const { value, isDeep } = parseCutJson(text);
  if (isDeep) throw new DeepJsonError(text);
  return value;
}

/** A value, and whether it had more than 100 levels. */
export interface CutJson {
  readonly value: unknown;
  readonly isDeep: boolean;
}

/** Longer texts could fill the memory with levels before these are counted: they are scanned first. */
const scannedFrom = 1024 * 1024;

/** Parses JSON, with null for what is nested too deeply. Throws a SyntaxError. */
export function parseCutJson(text: string): CutJson {
  const parts = text.length < scannedFrom ? [] : deepParts(text);
  const value: unknown = JSON.parse(parts.length === 0 ? text : without(text, parts));
  return { value, isDeep: parts.length > 0 || (mayBeDeep(text) && cutDeeper(value)) };
}

/** Whether a text has so many brackets, which takes a fraction of a look at its values. */
function mayBeDeep(text: string): boolean {
  let count = 0;
  for (const bracket of ["{", "["])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > mostLevels) return true;
  return false;
}

type Container = Record<string, unknown>;

/** Replaces deep values by null; false if none. Takes a tenth of a scan. */
function cutDeeper(value: unknown): boolean {
  let level = isContainer(value) ? [value] : [];
  for (let depth = 1; depth < mostLevels && level.length > 0; depth++) {
    const next: Container[] = [];
    for (const container of level) addChildren(container, next);
    level = next;
  }
  let isDeep = false;
  for (const container of level) {
    for (const key in container) {
      if (!isContainer(container[key])) continue;
      container[key] = null;
      isDeep = true;
    }
  }
  return isDeep;
}

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Loops take a fifth of the time of `Object.values` and `filter`. */
function addChildren(container: Container, children: Container[]): void {
  if (Array.isArray(container)) {
    for (const child of container) if (isContainer(child)) children.push(child);
    return;
  }
  for (const key in container) {
    const child = container[key];
    if (isContainer(child)) children.push(child);
  }
}

/** From where to where a text, if it is JSON, has too many levels. */
function deepParts(text: string): [from: number, to: number][] {
  const parts: [from: number, to: number][] = [];
  let depth = 0;
  for (let at = text.search(/\S/); at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "[" || character === "{") {
      if (++depth === mostLevels + 1) parts.push([at, text.length]);
    } else if (character === "]" || character === "}") {
      if (depth-- === mostLevels + 1) parts.at(-1)![1] = at + 1;
      // So many parts could fill the memory as well: without the rest, the text is invalid.
      if (parts.length === mostParts) return [[parts[0]![0], text.length]];
    }
    // The value is complete; it may be a number, or other than JSON.
    if (depth === 0) return parts;
  }
  return parts;
}

const mostParts = 10_000;

function without(text: string, parts: readonly (readonly [from: number, to: number])[]): string {
  const starts = [0, ...parts.map(([, to]) => to)];
  return starts.map((start, index) => text.slice(start, parts[index]?.[0])).join("null");
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** Whether a value is an object of fields: neither null nor a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
