/** Which service is spoken to, and as whom: the base URL, and a digest of the key (never the key). */
export interface ServiceIdentity {
  readonly baseUrl: string;
  readonly keyFingerprint: string;
}
