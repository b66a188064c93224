/** Why a request is held back: by the rate window before it is sent, or after an attempt that is worth repeating. */
export type WaitReason = "rate_window" | "rate_limited" | "in_progress" | "server_error" | "network";

/** A wait that begins, for a display such as "waiting 23 s for the rate window". */
export interface Wait {
  readonly reason: WaitReason;
  /** How long, in milliseconds. */
  readonly ms: number;
  readonly method: string;
  readonly path: string;
}

export type OnWait = (wait: Wait) => void;
