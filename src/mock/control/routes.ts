import { accountRoutes } from "./account.ts";
import { clockRoutes } from "./clock.ts";
import type { ControlRoute } from "./control-route.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { faultRoutes } from "./faults.ts";
import { requestRoutes } from "./requests.ts";
import { stateRoutes } from "./state.ts";

/** All control routes. */
export const controlRoutes: readonly ControlRoute[] = [
  ...clockRoutes,
  ...faultRoutes,
  ...stateRoutes,
  ...requestRoutes,
  ...accountRoutes,
  ...deliveryRoutes,
];
