/** The reason a request waits: the rate limit window, a retry, or an outage of the service while a job is polled. */
export type WaitReason =
  | "rate_window"
  | "rate_limited"
  | "in_progress"
  | "server_error"
  | "network"
  | "outage";

/** A wait that starts now, for messages such as "waiting 23 s for the rate limit window". */
export interface Wait {
  readonly reason: WaitReason;
  /** The length of the wait, in milliseconds. */
  readonly ms: number;
  readonly method: string;
  readonly path: string;
  /** In an outage: the time of the service's last response, in milliseconds since the epoch. */
  readonly since?: number;
}

export type OnWait = (wait: Wait) => void;
