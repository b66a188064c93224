import { faultAnswer } from "../faults/fault-answer.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Has a request that belongs to no operation wait out the latency and meet the faults set for its path. True when that was
 * the end of it: it has been answered, or cut off.
 */
export async function meetFaults(exchange: Exchange): Promise<boolean> {
  const { world, method, url } = exchange;
  const fault = world.faults.ofRequest(method, url, false);
  const wait = world.options.latencyMs + (fault?.delayMs ?? 0);
  if (wait > 0) await new Promise<void>((resolve) => world.hold(world.clock.now() + wait, resolve));
  if (fault === null) return false;
  const { cut, status } = fault;
  if (cut === "before") {
    exchange.cut();
    return true;
  }
  if (cut !== null) exchange.lost = cut === "after" ? "whole" : cut;
  if (status !== null) exchange.send(faultAnswer(status, null));
  return status !== null;
}
