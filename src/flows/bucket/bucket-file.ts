import { CatError } from "../../errors.ts";
import type { Bucket, Condition, PartsUpload } from "./bucket.ts";
import { toContent } from "./content.ts";

/** The bytes of a part: parts are gathered in memory, and an object has 10,000 of them at most. */
const partBytes = 8 * 1024 * 1024;

/** An object written in flat memory, which appears when committed. `discard` it after an error. */
export class BucketFile {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #type: string;
  readonly #condition: Condition | undefined;
  #upload: PartsUpload | null = null;
  #pieces: Buffer[] = [];
  #gathered = 0;
  bytes = 0;

  constructor(
    bucket: Bucket,
    name: string,
    { type, condition }: { readonly type: string; readonly condition: Condition | undefined },
  ) {
    this.#bucket = bucket;
    this.#name = name;
    this.#type = type;
    this.#condition = condition;
  }

  async write(content: string | Uint8Array): Promise<void> {
    const piece = Buffer.from(content as Uint8Array);
    this.#pieces.push(piece);
    this.#gathered += piece.length;
    this.bytes += piece.length;
    if (this.#gathered < partBytes) return;
    this.#upload ??= await this.#bucket.beginParts(this.#name, this.#type);
    await this.#upload.add(this.#taken());
  }

  /** Throws a CatError if another program has written an object of this name, which may not be replaced. */
  async commit(): Promise<void> {
    if (!(await this.place())) throw appeared(`${this.#bucket.shown}/${this.#name}`);
  }

  /** The same; false if the condition does not hold. */
  async place(): Promise<boolean> {
    const upload = this.#upload;
    if (upload === null) {
      // Some stores reject conditions, and others ignore them.
      if (!(await this.#bucket.fulfills(this.#name, this.#condition))) return false;
      await this.#bucket.put(this.#name, toContent(this.#taken()), { type: this.#type });
      return true;
    }
    if (this.#gathered > 0) await upload.add(this.#taken());
    if (!(await upload.complete(this.#condition))) return false;
    this.#upload = null;
    return true;
  }

  /** Removes what was sent; nothing after a commit. */
  async discard(): Promise<void> {
    await this.#upload?.abort();
    this.#upload = null;
  }

  #taken(): Buffer {
    const body = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#gathered = 0;
    return body;
  }
}

const appeared = (name: string): CatError =>
  new CatError(`${name} was written by another program meanwhile, and is not replaced`, {
    type: "output",
    code: "file_appeared",
    hint: "Choose another name, or add --yes to replace it.",
  });
