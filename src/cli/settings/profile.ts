/** The settings of a profile. The API key is not one of them: it belongs in the OS keychain. */
export interface Profile {
  readonly baseUrl?: string;
  /** Column names in the user's files, and the import fields that they are mapped to (`--map`). */
  readonly columns?: Readonly<Record<string, string>>;
  /** The name of the header with the signature of a webhook delivery. */
  readonly signatureHeader?: string;
  /** Shown in questions and summaries, so that production is not mistaken for staging; and its color. */
  readonly label?: string;
  readonly color?: string;
  /** Where `cat login` stored the API key, and the only origin that it is sent to. */
  readonly keyStore?: string;
  readonly keyOrigin?: string;
}
