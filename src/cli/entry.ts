/** The entry point of the programs in bin/: `process.exitCode = await main(argv, nodeContext("cat"))`. */
export { nodeContext } from "./context/context.ts";
export { main } from "./main.ts";
