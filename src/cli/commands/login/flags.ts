import type { KeyStoreName } from "../../settings/key-stores.ts";

/** The flags of `cat login`, checked. */
export interface LoginFlags {
  /** Whether the key comes on stdin instead of from a question. */
  readonly withKey: boolean;
  readonly store: KeyStoreName;
}
