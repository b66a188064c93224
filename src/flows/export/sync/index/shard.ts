import { createHash } from "node:crypto";

/** One of several parts of a catalogue, each of which another machine mirrors. */
export interface Shard {
  /** From 1. */
  readonly number: number;
  readonly of: number;
}

/** The shard that a product belongs to, from 1: the same on every machine and in every version. */
export function shardOf(productId: string, of: number): number {
  return (createHash("sha256").update(productId).digest().readUInt32BE(0) % of) + 1;
}

/** `2-of-3`, in names of files. */
export const shardName = ({ number, of }: Shard): string => `${number}-of-${of}`;
