import { createHash } from "node:crypto";
import type { Client } from "../../client/client.ts";

type Kept = NonNullable<Parameters<Client["downloadInto"]>[0]["kept"]>;
/** The version that the bytes of a part belong to. */
type Version = Omit<Kept, "bytes">;

/** The format of the sidecar; a later one gets another number. */
const form = 2;

/** A position up to which a part is safely on disk, with a digest that detects changes. */
export interface Checkpoint {
  bytes: number;
  digest: string;
}

/** The first line of a sidecar; one line per checkpoint follows, with the bytes on disk and their digest. */
export function sidecarHead(
  { validator, total }: Pick<Version, "total"> & { validator: unknown },
  resource: string,
): string {
  return `${JSON.stringify({ form, resource: digestOf(resource), validator, total })}\n`;
}

export const checkpointLine = ({ bytes, digest }: Checkpoint): string => `${bytes} ${digest}\n`;

/** The version and checkpoints of a sidecar; null if it is of another resource, or damaged. */
export function readSidecar(
  text: string,
  resource: string,
): { version: Version; checkpoints: Checkpoint[] } | null {
  // The text after the last line end is incomplete.
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

/** The stored form of the resource, because a URL may contain a secret. */
const digestOf = (resource: string): string => createHash("sha256").update(resource).digest("hex");
