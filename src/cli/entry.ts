/** What the bins load: `process.exitCode = await main(argv, nodeContext())`. */
export { nodeContext } from "./context/context.ts";
export { main } from "./main.ts";
