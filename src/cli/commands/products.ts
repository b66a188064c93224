import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { attachCommand } from "./products/attach.ts";
import { createCommand } from "./products/create.ts";
import { deleteCommand } from "./products/delete.ts";
import { detachCommand } from "./products/detach.ts";
import { getCommand } from "./products/get.ts";
import { listCommand } from "./products/list.ts";
import { updateCommand } from "./products/update.ts";

/** `cat products`: the products in the catalogue. */
export const productsCommand = (app: App): Command =>
  group("products", [
    listCommand(app),
    getCommand(app),
    createCommand(app),
    updateCommand(app),
    deleteCommand(app),
    attachCommand(app),
    detachCommand(app),
  ]).description("View and change the products in your catalogue. To import many: cat import FILE.");
