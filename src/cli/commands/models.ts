import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { CatError } from "../../errors.ts";
import { counted } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { command, group } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { named } from "../flags/values.ts";
import { entryFields, fieldColumns } from "../resources/forms.ts";
import { listResource } from "../resources/list-resource.ts";

const fields = entryFields(operations.models.list);
const columns = fieldColumns<Model>(fields, ["id", "name", "sex", "is_public"]);

/** `cat models`: the people that try-ons can show. */
export const modelsCommand = (app: App): Command =>
  group("models", "View the models (people) that can wear your products in try-ons.", [
    listResource(app, {
      summary: "list models",
      about: "List the models (people) that can wear your products in try-ons.",
      operation: operations.models.list,
      columns,
      filters: [
        new Option("--public", "only models that every organization can use")
          .conflicts("own")
          .implies({ is_public: true }),
        new Option("--own", "only models that your organization generated").implies({ is_public: false }),
      ],
      completes: { kind: "models", name: ({ id, name }) => [id, name ?? ""] },
      none: () => "No models found.",
      examples: [["print the IDs of your own models", "cat models list --own --all --json | jq -r .id"]],
    }),
    getCommand(app),
  ]);

/** Prints one model. The service has only a list of them. */
const getCommand = (app: App): Command =>
  withPrintFlags(
    command("get", {
      summary: "show a model",
      usage: "ID|NAME [flags]",
      about: "Show one model, found by its ID or name.",
      examples: [["show a model by its name", "cat models get Amara"]],
    }).argument("<ID|NAME>", "ID or name of the model"),
  ).action(async (text: string, flags: RawPrintFlags) => {
    const printing = readPrintFlags<Model>(flags, { columns, fields });
    const idOrName = named("ID|NAME", text.trim(), "See: cat models list")!;
    const { allModels, modelsNamed } = await import("../../flows/catalogue/lookups.ts");
    const models = await allModels({ client: await app.client(), signal: app.context.interrupt });
    const [model, ...others] = modelsNamed(idOrName, models);
    if (model !== undefined && others.length === 0) return app.io.resource(model, printing);
    throw model === undefined ? notFound(idOrName, models) : ambiguous(idOrName, [model, ...others]);
  });

function notFound(idOrName: string, models: readonly Model[]): CatError {
  const near = didYouMean(
    idOrName,
    models.flatMap(({ name }) => name ?? []),
  );
  return new CatError(`no model has the ID or name ${JSON.stringify(idOrName)}${questionFor(near, ": ")}`, {
    type: "not_found",
    code: "model_not_found",
    hint: "To see all models: cat models list --all",
  });
}

const ambiguous = (name: string, models: readonly Model[]): CatError =>
  new CatError(`${counted(models.length, "model")} are named ${JSON.stringify(name)}`, {
    type: "input",
    code: "model_ambiguous",
    hint: `Use an ID: ${models.map(({ id }) => id).join(" or ")}`,
  });
