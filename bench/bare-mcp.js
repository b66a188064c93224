// The least that a server of the protocol does: one tool of the SDK, without a build.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "bare", version: "1" });
  const inputSchema = z.object({ q: z.string().optional() });
  server.registerTool("find", { description: "Find.", inputSchema }, async () => ({ content: [] }));
  return server;
});
