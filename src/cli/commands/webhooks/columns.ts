import { Webhook } from "../../../contract/resources/webhook.ts";
import { fieldColumns } from "../../resources/resource-form.ts";

/** The columns of webhooks in tables and CSV files. */
export const webhookColumns = fieldColumns(Webhook, ["id", "status", "url", "last_delivery_at"]);
