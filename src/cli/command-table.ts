import type { Command } from "commander";
import type { App } from "./app/app.ts";
import type { CommandName } from "./command-names.ts";

/** A subcommand, described without loading its code. */
export interface CommandEntry {
  /** The usage that the top help shows. */
  readonly usage: string;
  readonly summary: string;
  /** Whether it, or its subcommand of this name, runs another program: that one gets what follows `--`. */
  readonly runsAnother?: boolean | string;
  /** Whether it describes the other commands, which are then loaded as well. */
  readonly describesAll?: boolean;
  /** Loads the code of the command, only when it is used. */
  load(app: App, next: string | undefined): Promise<Command>;
}

/** Every subcommand but `help`. A name in command-names.ts without an entry does not compile. */
export const commands: Readonly<Record<Exclude<CommandName, "help">, CommandEntry>> = {
  import: {
    usage: "import FILE",
    summary: "import products and photos from Excel, CSV or NDJSON files",
    load: async (app) => (await import("./commands/import/import.ts")).importCommand(app),
  },
  imports: {
    usage: "imports",
    summary: "view imports that were sent: list, get, watch, rows",
    load: async (app) => (await import("./commands/imports.ts")).importsCommand(app),
  },
  runs: {
    usage: "runs",
    summary: "view what was run on this machine, and how it ended: list, get",
    load: async (app) => (await import("./commands/runs.ts")).runsCommand(app),
  },
  tryon: {
    usage: "tryon FILE",
    summary: "generate images of products on models",
    load: async (app) => (await import("./commands/generate/generate.ts")).tryonCommand(app),
  },
  beautify: {
    usage: "beautify FILE",
    summary: "generate images of products alone",
    load: async (app) => (await import("./commands/generate/generate.ts")).beautifyCommand(app),
  },
  tasks: {
    usage: "tasks",
    summary: "view and save generated images: list, get, watch, save",
    load: async (app) => (await import("./commands/tasks.ts")).tasksCommand(app),
  },
  export: {
    usage: "export",
    summary: "export products and their images as NDJSON or CSV",
    // `sync` loads none of the flags of its parent.
    load: async (app, next) =>
      next === "sync"
        ? (await import("./commands/export/sync.ts")).syncGroup(app)
        : (await import("./commands/export/export.ts")).exportCommand(app),
  },
  exports: {
    usage: "exports",
    summary: "view and save prepared exports: list, get, watch, download",
    load: async (app) => (await import("./commands/exports.ts")).exportsCommand(app),
  },
  products: {
    usage: "products",
    summary: "view and change products: list, get, create, update, delete, attach, detach",
    load: async (app) => (await import("./commands/products.ts")).productsCommand(app),
  },
  images: {
    usage: "images",
    summary: "view, save and upload images: get, upload",
    load: async (app) => (await import("./commands/images.ts")).imagesCommand(app),
  },
  models: {
    usage: "models",
    summary: "view models: list, get",
    load: async (app) => (await import("./commands/models.ts")).modelsCommand(app),
  },
  webhooks: {
    usage: "webhooks",
    summary: "manage webhooks and receive events: list, create, listen, trigger, verify",
    runsAnother: "listen",
    // `listen` runs for long, and loads none of the others.
    load: async (app, next) =>
      next === "listen"
        ? (await import("./commands/listen/listen.ts")).listenGroup(app)
        : (await import("./commands/webhooks.ts")).webhooksCommand(app),
  },
  serve: {
    usage: "serve --mock",
    summary: "run a mock of the service on this machine, for trials and tests",
    runsAnother: true,
    load: async (app) => (await import("./commands/serve/serve.ts")).serveCommand(app),
  },
  api: {
    usage: "api METHOD PATH",
    summary: "send any request to the service",
    load: async (app) => (await import("./commands/api/api.ts")).apiCommand(app),
  },
  login: {
    usage: "login",
    summary: "store the address of the service and your API key",
    load: async (app) => (await import("./commands/account.ts")).loginCommand(app),
  },
  logout: {
    usage: "logout",
    summary: "remove the stored API key",
    load: async (app) => (await import("./commands/account.ts")).logoutCommand(app),
  },
  whoami: {
    usage: "whoami",
    summary: "show the profile, the address and the API key in use",
    load: async (app) => (await import("./commands/account.ts")).whoamiCommand(app),
  },
  doctor: {
    usage: "doctor",
    summary: "check the settings, the API key, the network and this machine",
    load: async (app) => (await import("./commands/doctor/doctor.ts")).doctorCommand(app),
  },
  config: {
    usage: "config",
    summary: "view and change settings: list, get, set, unset, path",
    load: async (app) => (await import("./commands/config.ts")).configCommand(app),
  },
  commands: {
    usage: "commands",
    summary: "list every command and flag, also for programs",
    describesAll: true,
    load: async (app) => (await import("./commands/commands.ts")).commandsCommand(app),
  },
  mcp: {
    usage: "mcp",
    summary: "let agents use your catalogue (Model Context Protocol)",
    load: async (app) => (await import("./commands/mcp/mcp.ts")).mcpCommand(app),
  },
  completion: {
    usage: "completion SHELL",
    summary: "print a script that completes commands on Tab",
    load: async (app) => (await import("./commands/completion.ts")).completionCommand(app),
  },
};
