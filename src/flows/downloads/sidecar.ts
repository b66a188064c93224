import { createHash } from "node:crypto";
import type { Client } from "../../client/client.ts";

type Kept = NonNullable<Parameters<Client["downloadInto"]>[0]["kept"]>;
/** The version that the bytes of a part belong to. */
type Version = Omit<Kept, "bytes">;

/** The shape of the sidecar; a later one gets another number. */
const form = 2;

/** A place up to which the bytes of a part are safely on the disk, with a digest that shows whether they still are those. */
export interface Checkpoint {
  bytes: number;
  digest: string;
}

/** The first line of a sidecar; a line for each checkpoint follows: the bytes that are safe by then, and their digest. */
export function sidecarHead(
  { validator, total }: Pick<Version, "total"> & { validator: unknown },
  resource: string,
): string {
  return `${JSON.stringify({ form, resource: digestOf(resource), validator, total })}\n`;
}

export const checkpointLine = ({ bytes, digest }: Checkpoint): string => `${bytes} ${digest}\n`;

/** The version that a sidecar names, and its checkpoints; null where it is of another resource, or damaged. */
export function readSidecar(
  text: string,
  resource: string,
): { version: Version; checkpoints: Checkpoint[] } | null {
  // What follows the last line end was cut off.
  const [head = "", ...lines] = text.split("\n").slice(0, -1);
  let read: { form: unknown; resource: unknown; validator: Version["validator"]; total: number | null };
  try {
    read = JSON.parse(head) ?? {};
  } catch {
    return null;
  }
  const { validator, total } = read;
  if (read.form !== form || read.resource !== digestOf(resource)) return null;
  if (!lines.every((line) => /^[1-9]\d{0,14} [0-9a-f]+$/.test(line))) return null;
  if (!(total === null || Number.isSafeInteger(total))) return null;
  if (typeof validator?.value !== "string") return null;
  const checkpoints = lines.map((line) => {
    const [bytes, digest] = line.split(" ");
    return { bytes: Number(bytes), digest: digest! };
  });
  return validator.header === "etag" || validator.header === "last-modified"
    ? { version: { validator, total }, checkpoints }
    : null;
}

/** The resource as it is kept, because a URL may hold a secret. */
const digestOf = (resource: string): string => createHash("sha256").update(resource).digest("hex");
