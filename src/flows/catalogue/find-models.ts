import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import type { Service } from "../service.ts";

/** Every model that the key can use, public and own: a page of 100 per read. */
export async function allModels({ client, signal }: Pick<Service, "client" | "signal">): Promise<Model[]> {
  const { max } = limits.page;
  const models: Model[] = [];
  for await (const model of client.paginate(operations.models.list, { limit: max }, { signal }))
    models.push(model);
  return models;
}

/** The models with this ID or, if there is none, with exactly this name: several may share a name. */
export function modelsNamed(idOrName: string, models: readonly Model[]): readonly Model[] {
  const byId = models.find(({ id }) => id === idOrName);
  return byId === undefined ? models.filter(({ name }) => name === idOrName) : [byId];
}
