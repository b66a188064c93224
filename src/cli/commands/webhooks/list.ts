import { operations } from "../../../contract/operations.ts";
import { listResource } from "../../resources/list-resource.ts";
import { webhookColumns } from "./columns.ts";

/** `cat webhooks list` */
export const listCommand = listResource({
  summary: "list webhooks",
  description: "List the webhooks of your organization.",
  operation: operations.webhooks.list,
  columns: webhookColumns,
  filters: [],
  none: () => "No webhooks yet. To create one: cat webhooks create --url URL --events all",
  examples: [["print the URLs of all webhooks", "cat webhooks list --all --json | jq -r .url"]],
});
