import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Client } from "../../client/client.ts";

type Version = Parameters<Parameters<Client["downloadInto"]>[0]["begin"]>[0];
/** A version whose bytes another process can resume. */
type Resumable = Version & { readonly validator: NonNullable<Version["validator"]> };

/** The format of the sidecar; a later one gets another number. */
const form = 3;

/** What a sidecar records: which file the part belongs to, and since which start of the machine it is written. */
export const sidecarText = ({ validator, total }: Version, resource: string, boot: string): string =>
  JSON.stringify({ form, resource: digestOf(resource), validator, total, boot });

/** The version of a part; null if it cannot be resumed: of another resource, from before a restart, or damaged. */
export function readSidecar(text: string, resource: string, boot: string): Resumable | null {
  let read: { form?: unknown; resource?: unknown; boot?: unknown } & Partial<Version>;
  try {
    read = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { validator, total = null } = read;
  if (read.form !== form || read.resource !== digestOf(resource) || read.boot !== boot) return null;
  if (!(total === null || Number.isSafeInteger(total))) return null;
  if (typeof validator?.value !== "string") return null;
  const isKnown = validator.header === "etag" || validator.header === "last-modified";
  return isKnown ? { validator, total } : null;
}

/**
 * The start of the machine: after a power cut, a file may have its length but not its bytes. Empty on systems that do not
 * name it.
 */
export const currentBoot = (): Promise<string> =>
  readFile("/proc/sys/kernel/random/boot_id", "latin1").then(
    (id) => id.trim(),
    () => "",
  );

/** The stored form of the resource, because a URL may contain a secret. */
const digestOf = (resource: string): string => createHash("sha256").update(resource).digest("hex");
