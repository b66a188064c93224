import { sep } from "node:path";
import { didYouMean, questionFor } from "../../../contract/did-you-mean.ts";
import { safeFilename } from "../../../contract/image-file.ts";
import { CatError } from "../../../errors.ts";
import { withoutEnd } from "../../../text.ts";
import { foldedPath } from "../../files/file-names.ts";
import type { MirrorEntry } from "./mirror-entry.ts";
import { completeIndex, decisionsFile, shardOfIndex } from "./mirror-state.ts";

export type NamedEntry = Pick<
  MirrorEntry,
  | "product_id"
  | "asset_id"
  | "reference"
  | "name"
  | "role"
  | "mime_type"
  | "created_at"
  | "task_id"
  | "attributes"
  | "suggested_filename"
>;

/** The path of a file; `suffix` goes before the extension of the last component. */
export type PathOf = (entry: NamedEntry, suffix?: string) => string;

/** Extensions by image type; the first is the usual one. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "image/jpeg": [".jpg", ".jpeg"],
  "image/png": [".png"],
  "image/webp": [".webp"],
};

/** The attributes that the specification names (ExportRow, `attributes`). */
const attributes = ["orientation", "angle_shot", "background", "model_id", "edit_number"] as const;

const fields: Readonly<Record<string, (entry: NamedEntry) => unknown>> = {
  id: ({ asset_id }) => asset_id,
  product_id: ({ product_id }) => product_id,
  reference: ({ reference, product_id }) => reference ?? product_id,
  name: ({ name }) => name,
  role: ({ role }) => role,
  task_id: ({ task_id }) => task_id,
  date: ({ created_at }) => created_at?.slice(0, 10),
  filename: (entry) => fileStem(entry),
  ...Object.fromEntries(attributes.map((name) => [name, (entry: NamedEntry) => entry.attributes[name]])),
};

/** Placeholders of a template, for messages. */
export const placeholders: readonly string[] = [...Object.keys(fields), "ext"];

/** A part of a component: plain text, or names of fields of which the first with a value counts. */
type Part = string | readonly string[];

/** The names of a template, or of the service (null). Only its `/` starts a folder. Throws a usage error. */
export function readTemplate(template: string | null): PathOf {
  if (template === null) {
    return (entry, suffix = "") => safeFilename(fileStem(entry), suffix + fileExtension(entry));
  }
  const components = template
    .replaceAll(sep, "/")
    .split("/")
    .map((component) => parseParts(template, component));
  const last = components.at(-1)!;
  const ext = last.at(-1);
  const isEnded = Array.isArray(ext) && ext.length === 1 && ext[0] === "ext";
  const others = [...components.slice(0, -1), last.slice(0, -1)];
  if (!isEnded || others.flat(2).includes("ext") || others.some((parts) => parts.length === 0)) {
    throw invalid(
      template,
      isEnded ? "a component is empty, or {ext} is not at its end" : "it does not end with {ext}",
    );
  }
  return (entry, suffix = "") => {
    const texts = others.map((parts) => parts.map((part) => partText(part, entry)).join(""));
    const file = safeFilename(texts.pop()!, suffix + fileExtension(entry));
    const folders = texts.map(folderName);
    if (folders.length > 0 && isIndexName(folders[0]!)) folders[0] = `_${folders[0]}`;
    return [...folders, file].join("/");
  };
}

function parseParts(template: string, component: string): Part[] {
  const parts: Part[] = [];
  for (const [text, inside] of component.matchAll(/\{([^{}]*)\}|[{}]|[^{}]+/g)) {
    if (text === "{" || text === "}") throw invalid(template, `"${text}" has no counterpart`);
    if (inside === undefined) {
      parts.push(text);
      continue;
    }
    const names = inside.split("|").map((name) => name.trim());
    for (const name of names) if (!placeholders.includes(name)) throw unknown(template, name);
    parts.push(names);
  }
  return parts;
}

function partText(part: Part, entry: NamedEntry): string {
  if (typeof part === "string") return part;
  for (const name of part) {
    const value = fields[name]?.(entry);
    if (typeof value === "number" || (typeof value === "string" && value !== "")) return String(value);
  }
  return "";
}

/** The suggested name without its extension (ExportRow, `suggested_filename`). */
function fileStem({ suggested_filename, asset_id, mime_type }: NamedEntry): string {
  if (suggested_filename === null || suggested_filename === "") return asset_id;
  const lower = suggested_filename.toLowerCase();
  const ending = (extensions[mime_type] ?? []).find((known) => lower.endsWith(known) && lower !== known);
  return ending === undefined ? suggested_filename : suggested_filename.slice(0, -ending.length);
}

/** By the type of the bytes, so that no name can pass for another kind of file. */
const fileExtension = ({ mime_type }: NamedEntry): string => extensions[mime_type]?.[0] ?? ".bin";

/** Windows drops dots and spaces at the end of a folder's name. */
const folderName = (text: string): string => withSafeEnd(safeFilename(withSafeEnd(text), ""));

function withSafeEnd(text: string): string {
  const kept = withoutEnd(text, /[.\s]/);
  return kept === text ? text : `${kept}_`;
}

/** A folder must not take the place of an index. */
const isIndexName = (name: string): boolean => {
  const plain = foldedPath(name);
  return plain === completeIndex || plain === decisionsFile || shardOfIndex(plain) !== null;
};

const list = placeholders.map((name) => `{${name}}`).join(" ");

function unknown(template: string, name: string): CatError {
  const near = questionFor(didYouMean(name, placeholders), "", (word) => `{${word}}`);
  const hint = near === "" ? `Placeholders: ${list}` : `${near[0]!.toUpperCase()}${near.slice(1)}`;
  return invalid(template, `unknown placeholder {${name}}`, hint);
}

const invalid = (template: string, why: string, hint?: string): CatError =>
  new CatError(`invalid --template ${JSON.stringify(template)}: ${why}`, {
    type: "usage",
    code: "invalid_template",
    param: "--template",
    hint: hint ?? 'For example: --template "{reference}/{role}-{orientation|angle_shot}-{id}{ext}"',
  });
