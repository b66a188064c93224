import { faultResponse } from "../faults/fault-response.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Applies the latency and the faults of its path to a request outside the operations. True if the request is
 * done: a response was sent, or the connection was cut.
 */
export async function applyFaults(exchange: Exchange): Promise<boolean> {
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
  if (cut !== null) exchange.lost = cut === "after" ? "all" : cut;
  if (status !== null) exchange.send(faultResponse(status, null));
  return status !== null;
}
