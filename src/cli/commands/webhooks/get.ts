import { operations } from "../../../contract/operations.ts";
import { getResource } from "../../resources/get-resource.ts";
import { webhookColumns } from "./columns.ts";

/** `cat webhooks get` */
export const getCommand = getResource<typeof operations.webhooks.get>({
  noun: "webhook",
  summary: "show a webhook",
  description: "Show one webhook. Its signing secret is shown only when it is created or rotated.",
  operation: operations.webhooks.get,
  input: (id) => ({ webhook_id: id }),
  columns: webhookColumns,
  examples: [["print the status", "cat webhooks get ID --json | jq -r .status"]],
});
