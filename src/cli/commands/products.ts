import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./products/get.ts";
import { listCommand } from "./products/list.ts";

/** `cat products`: the products in the catalogue. */
export const productsCommand = (app: App): Command =>
  group("products", [listCommand(app), getCommand(app)]).description("View the products in your catalogue.");
