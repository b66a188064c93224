import { createHash } from "node:crypto";
import type { Client } from "../../client/client.ts";

type Kept = NonNullable<Parameters<Client["downloadInto"]>[0]["kept"]>;
/** The version that the bytes of a part belong to. */
type Version = Omit<Kept, "bytes">;

/** The shape of the sidecar; a later one gets another number. */
const form = 1;

/** The first line of a sidecar; a line for each checkpoint follows, with the bytes that are safe by then. */
export function sidecarHead(
  { validator, total }: Pick<Version, "total"> & { validator: unknown },
  resource: string,
): string {
  return `${JSON.stringify({ form, resource: digestOf(resource), validator, total })}\n`;
}

/** The version that a sidecar names, and its last checkpoint; null where it is of another resource, or damaged. */
export function readSidecar(text: string, resource: string): { version: Version; safe: number } | null {
  // What follows the last line end was cut off.
  const [head = "", ...checkpoints] = text.split("\n").slice(0, -1);
  let read: { form: unknown; resource: unknown; validator: Version["validator"]; total: number | null };
  try {
    read = JSON.parse(head) ?? {};
  } catch {
    return null;
  }
  const { validator, total } = read;
  const safe = Number(checkpoints.at(-1) ?? 0);
  if (read.form !== form || read.resource !== digestOf(resource)) return null;
  if (!Number.isSafeInteger(safe) || !(total === null || Number.isSafeInteger(total))) return null;
  if (typeof validator?.value !== "string") return null;
  return validator.header === "etag" || validator.header === "last-modified"
    ? { version: { validator, total }, safe }
    : null;
}

/** The resource as it is kept, because a URL may hold a secret. */
const digestOf = (resource: string): string => createHash("sha256").update(resource).digest("hex");
