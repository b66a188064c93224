import { createHash } from "node:crypto";

/** The longest name on common file systems, in bytes, less the sidecar's addition. */
const longest = 255 - ".state".length;

/** The name of the part of a file: `.NAME.part`, or a shortened NAME with a digest if that is too long. */
export function partName(name: string): string {
  const usual = `.${name}.part`;
  if (Buffer.byteLength(usual) <= longest) return usual;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 16);
  const characters = Array.from(name);
  while (Buffer.byteLength(`.${characters.join("")}-${digest}.part`) > longest) characters.pop();
  return `.${characters.join("")}-${digest}.part`;
}
