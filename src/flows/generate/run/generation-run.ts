// The run: what the stages of a generation share.

import type { Task } from "../../../contract/resources/task.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import type { Generation } from "../generation.ts";
import type { GenerateInput } from "./generate-input.ts";
import type { SentGeneration } from "./stored-generations.ts";

/** Why a generation was not queued. */
export interface Rejection {
  readonly code: string;
  readonly message: string;
}

export interface GenerationRun {
  readonly input: GenerateInput;
  readonly service: Service;
  readonly run: RunAtHand;
  /** Whether the run was begun with `--fresh`: it also generates what another run has generated again. */
  readonly fresh: boolean;
  /** What was sent, by this process and earlier ones, by place. */
  readonly sent: Map<string, SentGeneration>;
  /** What this process has to queue, with what it found to be not queued by an earlier one. */
  readonly remaining: Generation[];
  /** The places of rejected images that another run generated again since this one was planned. */
  readonly replaced: Set<string>;
  /** What the service rejected, by place. */
  readonly rejected: Map<string, { readonly generation: Generation; readonly why: Rejection }>;
  /** Tasks as they were last seen, by ID. */
  readonly tasks: Map<string, Task>;
  /** The IDs of tasks that the service does not have. */
  readonly lost: Set<string>;
}
