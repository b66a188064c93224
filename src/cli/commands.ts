import type { Command } from "commander";
import type { App } from "./app/app.ts";
import type { CommandName } from "./command-names.ts";

/** A subcommand as the program knows it before it is called. */
export interface CommandEntry {
  /** How it is used, as help shows it. */
  readonly usage: string;
  readonly summary: string;
  /** Whether it runs another program: what stands after `--` is that one's own, whatever it looks like. */
  readonly runsAnother?: boolean;
  /** Loads the command's own code; only the command that is called pays for it. */
  load(app: App): Promise<Command>;
}

/** Every subcommand; `help` is the program's own. Adding a name to command-names.ts asks for its entry here. */
export const commands: Readonly<Record<Exclude<CommandName, "help">, CommandEntry>> = {
  import: {
    usage: "import FILE",
    summary: "bring in products and photos from a CSV or NDJSON file",
    load: async (app) => (await import("./commands/import.ts")).importCommand(app),
  },
  imports: {
    usage: "imports",
    summary: "look at imports that were sent: list, get, watch, rows",
    load: async (app) => (await import("./commands/imports.ts")).importsCommand(app),
  },
  products: {
    usage: "products",
    summary: "look at products: list, get",
    load: async (app) => (await import("./commands/products.ts")).productsCommand(app),
  },
  images: {
    usage: "images",
    summary: "view images: get",
    load: async (app) => (await import("./commands/images.ts")).imagesCommand(app),
  },
  models: {
    usage: "models",
    summary: "view models: list",
    load: async (app) => (await import("./commands/models.ts")).modelsCommand(app),
  },
  serve: {
    usage: "serve --mock",
    summary: "run a made-up service here, to try things and to test",
    runsAnother: true,
    load: async (app) => (await import("./commands/serve.ts")).serveCommand(app),
  },
};
