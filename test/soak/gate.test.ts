import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Gate } from "../../soak/gate.ts";

test("a request that is delivered late is held like any other", async () => {
  const order: string[] = [];
  const service = createServer((_, response) => {
    order.push("delivered");
    response.end();
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const gate = await Gate.before<"queuing">(target, () => "queuing");
  onTestFinished(() => {
    gate.stop();
    service.closeAllConnections();
    service.close();
  });
  gate.treat = () => ({ at: "late", waitMs: 0, kill: () => order.push("killed") });
  gate.hold = async () => {
    order.push("held");
  };
  await expect(fetch(`${gate.url}/v1/tasks`, { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
  await gate.quiet();
  expect(order).toEqual(["killed", "held", "delivered"]);
});
