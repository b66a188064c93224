import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../clock.ts";
import { isObject, parseJson } from "../../json.ts";
import { moveFile } from "../../move-file.ts";
import { makePrivateFolder, temporaryFile } from "../../open-file.ts";
import { readPlainFile } from "../files/disk.ts";
import type { UrlVerdict } from "./url-verdict.ts";

/** How long a verdict counts, in milliseconds. */
const keptMs = 24 * 60 * 60_000;
/** A longer ETag is not kept. */
const longestTag = 200;

interface Known {
  readonly etag: string;
  readonly at: number;
  readonly verdict: UrlVerdict;
}

/**
 * Verdicts of the last day by URL and ETag, in a file that only saves requests, so that it need not be
 * readable or writable; a digest stands for a URL, which may have a signature.
 */
export class KnownUrls {
  readonly #path: string | null;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  #isChanged = false;

  private constructor(path: string | null, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** `path`: null keeps nothing. */
  static async open(path: string | null, clock: Clock): Promise<KnownUrls> {
    const urls = new KnownUrls(path, clock);
    const text = path === null ? null : await readPlainFile(path).catch(() => null);
    for (const line of (text ?? "").split("\n")) if (line !== "") urls.#read(line);
    return urls;
  }

  #read(line: string): void {
    try {
      const entry = parseJson(line);
      if (!isObject(entry)) return;
      const { url, etag, at, verdict } = entry;
      const isKnown = typeof url === "string" && typeof etag === "string" && typeof at === "number";
      if (isKnown && this.#isFresh(at) && isVerdict(verdict)) this.#known.set(url, { etag, at, verdict });
    } catch {
      // A line that was cut off.
    }
  }

  #isFresh(at: number): boolean {
    const age = this.#clock.now() - at;
    return age >= 0 && age < keptMs;
  }

  /** The verdict on the version of a photo with that ETag; null if there is none of today. */
  find(url: string, etag: string): UrlVerdict | null {
    const known = this.#known.get(toKey(url));
    return known !== undefined && known.etag === etag && this.#isFresh(known.at) ? known.verdict : null;
  }

  add(url: string, etag: string, verdict: UrlVerdict): void {
    if (etag.length > longestTag) return;
    this.#known.set(toKey(url), { etag, at: this.#clock.now(), verdict });
    this.#isChanged = true;
  }

  async save(): Promise<void> {
    if (this.#path === null || !this.#isChanged) return;
    this.#isChanged = false;
    try {
      // On a new machine, the folders above may not exist yet.
      mkdirSync(dirname(dirname(this.#path)), { recursive: true });
      makePrivateFolder(dirname(this.#path));
      const file = await temporaryFile(dirname(this.#path));
      try {
        for (const [url, known] of this.#known) await file.write(`${JSON.stringify({ url, ...known })}\n`);
        await file.close();
        moveFile(file.path, this.#path, false);
      } catch (error) {
        await rm(file.path, { force: true });
        throw error;
      }
    } catch {
      // The next check asks again.
    }
  }
}

const toKey = (url: string): string => createHash("sha256").update(url).digest("base64url");

function isVerdict(value: unknown): value is UrlVerdict {
  if (!isObject(value)) return false;
  const { problem, isSmall, content } = value;
  const isProblem =
    problem === null ||
    (isObject(problem) && typeof problem.code === "string" && typeof problem.message === "string");
  return isProblem && typeof isSmall === "boolean" && (content === null || typeof content === "string");
}
