import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { createCommand } from "./webhooks/create.ts";
import { deleteCommand } from "./webhooks/delete.ts";
import { getCommand } from "./webhooks/get.ts";
import { listCommand } from "./webhooks/list.ts";
import { listenCommand } from "./webhooks/listen.ts";
import { replayCommand } from "./webhooks/replay.ts";
import { rotateCommand } from "./webhooks/rotate.ts";
import { triggerCommand } from "./webhooks/trigger.ts";
import { updateCommand } from "./webhooks/update.ts";
import { verifyCommand } from "./webhooks/verify.ts";

/** `cat webhooks`: the webhooks of the service, and the events that they deliver. */
export const webhooksCommand = (app: App): Command =>
  group("webhooks", [
    listCommand(app),
    getCommand(app),
    createCommand(app),
    updateCommand(app),
    deleteCommand(app),
    rotateCommand(app),
    listenCommand(app),
    replayCommand(app),
    triggerCommand(app),
    verifyCommand(app),
  ]).description("Manage webhooks: URLs to which the service sends an event when a task or job ends.");
