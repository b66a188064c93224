/** Identifies the service and the account: the base URL, and a digest of the API key (never the key). */
export interface ServiceIdentity {
  readonly baseUrl: string;
  readonly keyFingerprint: string;
}
