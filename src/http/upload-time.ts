/** A slow link, in bytes per millisecond: 32 kB/s. */
const slowUpload = 32;

/** The extra time for uploading the body of a request, in milliseconds: about four minutes for 8 MB. */
export const uploadMs = (body: Uint8Array | null): number => Math.ceil((body?.length ?? 0) / slowUpload);
