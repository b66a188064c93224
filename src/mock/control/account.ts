import * as z from "zod";
import { organizationNames } from "../rules/authenticate.ts";
import { parseJson } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { Refusal } from "../rules/refusal.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import type { ControlRoute } from "./control-route.ts";

const Account = z.strictObject({
  /** Remaining generations; null for no limit. */
  credits: z.int().min(0).nullable(),
});

/** Shows and sets the credits of an organization: the one named in the path, else the first one. */
export const accountRoutes: readonly ControlRoute[] = [
  "/_mock/account",
  "/_mock/account/{organization}",
].flatMap((path): ControlRoute[] => [
  { method: "GET", path, work: (world, _body, params) => shown(named(world, params)) },
  {
    method: "POST",
    path,
    work: (world, body, params) => {
      const organization = named(world, params);
      organization.credits = check(Account, parseJson(body), "body").credits;
      return shown(organization);
    },
  },
]);

const shown = ({ name, credits }: Organization) => ({ organization: name, credits });

function named(world: World, params: Readonly<Record<string, string>>): Organization {
  const { organization = "main" } = params;
  const name = organizationNames.find((known) => known === organization);
  if (name === undefined) throw new Refusal("route_not_found", "organization not found");
  return world.organizations[name];
}
