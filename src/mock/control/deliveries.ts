import type { ControlRoute } from "./control-route.ts";

/** What went to webhooks, newest last; and once more, please. */
export const deliveryRoutes: readonly ControlRoute[] = [
  { method: "GET", path: "/_mock/deliveries", work: (world) => world.deliveries.list() },
  {
    method: "POST",
    path: "/_mock/deliveries/{delivery_id}/resend",
    work: (world, _body, { delivery_id }) => world.deliveries.resend(delivery_id!),
  },
];
