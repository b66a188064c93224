/** FNV-1a with a final mix: a 32-bit hash of a text, different for every `variant`. */
export function hash(text: string, variant = 0): number {
  let value = 2_166_136_261 ^ Math.imul(variant, 2_654_435_761);
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16_777_619);
  value = Math.imul(value ^ (value >>> 15), 2_246_822_507);
  value = Math.imul(value ^ (value >>> 13), 3_266_489_909);
  return (value ^ (value >>> 16)) | 0;
}
