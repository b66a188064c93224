import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { entryFields, fieldColumns } from "../resources/forms.ts";
import { listResource } from "../resources/list-resource.ts";

/** `cat models`: the people that try-ons can show. */
export const modelsCommand = (app: App): Command =>
  group("models", "View the models (people) that can wear your products in try-ons.", [
    listResource(app, {
      summary: "list models",
      about: "List the models (people) that can wear your products in try-ons.",
      operation: operations.models.list,
      columns: fieldColumns<Model>(entryFields(operations.models.list), ["id", "name", "sex", "is_public"]),
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
  ]);
