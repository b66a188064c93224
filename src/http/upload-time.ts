/** A slow link in bytes a millisecond: 32 kB/s. */
const slowUpload = 32;

/** How much longer a request may take because its body must go up first, in milliseconds: 8 MB get four minutes. */
export const uploadMs = (body: Uint8Array | null): number => Math.ceil((body?.length ?? 0) / slowUpload);
