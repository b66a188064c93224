import * as z from "zod";
import { lastMoment } from "../../clock.ts";
import { parseJson } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { invalid } from "../rules/refusal.ts";
import type { ControlRoute } from "./control-route.ts";
import { moveClock } from "./move-clock.ts";

const ClockMove = z.strictObject({ advance_ms: z.int().min(0) });

/** Moves the clock of the mock and runs everything that becomes due; responds when all of it is done. */
export const clockRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: "/_mock/clock",
    work: async (world, body) => {
      const { advance_ms } = check(ClockMove, parseJson(body), "body");
      if (advance_ms > 0 && world.clock.now() + advance_ms > lastMoment) {
        throw invalid("too far: expiration times would pass the year 9999", "advance_ms");
      }
      await moveClock(world, advance_ms);
      return { now: world.timestamp() };
    },
  },
];
