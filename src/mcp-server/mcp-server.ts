export { type McpDoor, openMcpDoor } from "./http-door.ts";
export { mcpLimits } from "./limits.ts";
export { rpcRefusal } from "./rpc.ts";
export { serveOverStdio } from "./stdio.ts";
export { Visitor } from "./visitor.ts";
