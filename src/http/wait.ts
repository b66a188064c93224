/**
 * Why a request is held back: by the rate window before it is sent, after an attempt that is worth repeating, or because a
 * job cannot be looked up while the service answers nobody.
 */
export type WaitReason =
  | "rate_window"
  | "rate_limited"
  | "in_progress"
  | "server_error"
  | "network"
  | "outage";

/** A wait that begins, for a display such as "waiting 23 s for the rate window". */
export interface Wait {
  readonly reason: WaitReason;
  /** How long, in milliseconds. */
  readonly ms: number;
  readonly method: string;
  readonly path: string;
  /** In an outage: when the service last answered, in milliseconds since the epoch. */
  readonly since?: number;
}

export type OnWait = (wait: Wait) => void;
