import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { Model } from "../../../contract/resources/model.ts";
import { fieldColumns, listResource } from "../../resources/list-resource.ts";

/** `cat models list` */
export const listCommand = listResource({
  summary: "list models",
  description: "List the models that a try-on can show.",
  operation: operations.models.list,
  columns: fieldColumns(Model, ["id", "name", "sex", "is_public"]),
  filters: [
    new Option("--public", "only the models that the service offers everyone")
      .conflicts("own")
      .implies({ is_public: true }),
    new Option("--own", "only the models that your organization generated").implies({ is_public: false }),
  ],
  none: () => "No models found.",
  examples: [["the IDs of your own models, for a script", "cat models list --own --all --json | jq -r .id"]],
});
