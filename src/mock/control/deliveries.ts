import type { ControlRoute } from "./control-route.ts";

/** Lists webhook deliveries, newest last, and sends one again. */
export const deliveryRoutes: readonly ControlRoute[] = [
  { method: "GET", path: "/_mock/deliveries", work: (world) => world.deliveries.list() },
  {
    method: "POST",
    path: "/_mock/deliveries/{delivery_id}/resend",
    work: (world, _body, { delivery_id }) => world.deliveries.resend(delivery_id!),
  },
];
