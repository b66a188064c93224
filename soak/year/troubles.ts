import type { FaultOrder } from "../../src/mock/faults/fault-order.ts";
import type { Random } from "../../src/mock/seed/seed.ts";
import type { DiskFault } from "../trouble.ts";

const steps = [
  ...(["import", "undo", "back", "delete", "review", "mirror", "coverage", "tryon"] as const),
  ...(["shard 1", "shard 2", "poll", "listener"] as const),
] as const;
export type StepName = (typeof steps)[number];

export const troubleKinds = [
  ...(["kill", "5xx", "cut page", "full disk", "skewed clock"] as const),
  ...(["lost state", "credits out", "expired key"] as const),
] as const;

/** What happens in a night. */
export type Trouble =
  | { readonly kind: "kill"; readonly step: StepName; readonly nth: number; readonly waitMs: number }
  | { readonly kind: "full disk"; readonly step: StepName; readonly disk: DiskFault }
  | { readonly kind: "5xx" | "cut page"; readonly faults: readonly FaultOrder[] }
  | { readonly kind: "skewed clock"; readonly aheadMs: number }
  | { readonly kind: "lost state" | "credits out" | "expired key" };

const day = 86_400_000;
const minute = 60_000;

/** The trouble of a night, of one kind. */
export function troubleOf(kind: (typeof troubleKinds)[number], random: Random): Trouble {
  switch (kind) {
    case "kill":
      return {
        kind,
        step: random.pick([
          "import",
          "import",
          "import",
          "tryon",
          "tryon",
          "mirror",
          "shard 1",
          "shard 2",
          "delete",
          "review",
          "undo",
          "poll",
          "listener",
        ]),
        nth: 1 + random.below(8),
        waitMs: random.pick([0, 0, 2, 10, 40]),
      };
    case "full disk":
      return {
        kind,
        step: random.pick(["import", "tryon", "mirror"]),
        disk: { step: random.pick(["writing", "recording"]), nth: 1 + random.below(6), how: "full" },
      };
    case "5xx":
      return {
        kind,
        faults: [
          { match: { path: "/v1" }, status: random.pick([500, 502, 503]), probability: 0.3, times: 20 },
          { match: { path: "/v1" }, drop: random.pick(["before", "after"]), probability: 0.1, times: 5 },
        ],
      };
    case "cut page":
      return {
        kind,
        faults: ["/v1/exports", "/v1/products", "/v1/tasks", "/_signed"].map((path) => {
          return { match: { method: "GET", path }, truncate: random.below(300), times: 1 + random.below(3) };
        }),
      };
    case "skewed clock":
      return { kind, aheadMs: random.pick([-day, -10 * minute, 10 * minute, day, 400 * day]) };
    default:
      return { kind };
  }
}
