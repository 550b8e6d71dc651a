import type { Client, JSONRPCMessage, ListToolsResult, RequestOptions, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { failed, ok, type Result } from "../base/result.ts";
import { type Fault, faultOf } from "./faults.ts";
import { ToolDefinition } from "./known-tools.ts";

/** The tools that a server described so that nobody could call them, by name. */
export type BrokenTools = ReadonlyMap<string, ToolDefinition>;

/**
 * The client refuses the whole list of a server for one tool that it cannot read. So each list is looked through before
 * the client sees it: broken tools are taken out and kept here, and of the others only what is needed is handed on.
 */
export function takeOutBroken(transport: Transport): BrokenTools {
  const broken = new Map<string, ToolDefinition>();
  let heard: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => heard,
    set(handler: Transport["onmessage"]) {
      heard = handler && ((message, extra) => handler(withoutBroken(message, broken), extra));
    },
  });
  return broken;
}

/** All of them: first those that can be called. */
export async function listTools(
  client: Client,
  broken: BrokenTools,
  how: Pick<RequestOptions, "signal">,
): Promise<Result<readonly ToolDefinition[], Fault>> {
  const listed = await askForTools(client, how);
  if (!listed.ok) return listed;
  return ok([...listed.value.map((tool) => ToolDefinition.parse(tool)), ...broken.values()]);
}

async function askForTools(
  client: Client,
  how: Pick<RequestOptions, "signal">,
): Promise<Result<ListToolsResult["tools"], Fault>> {
  try {
    return ok((await client.listTools(undefined, { ...how, cacheMode: "refresh" })).tools);
  } catch (error) {
    return failed(faultOf(error));
  }
}

const List = z.object({ tools: z.array(z.unknown()) });

function withoutBroken(message: JSONRPCMessage, broken: Map<string, ToolDefinition>): JSONRPCMessage {
  // Results of calls have content.
  if (!("result" in message) || "content" in message.result) return message;
  const list = List.safeParse(message.result);
  if (!list.success) return message;
  const tools = list.data.tools.flatMap((tool) => {
    const usable = Usable.safeParse(tool);
    const { name, description } = Named.safeParse(tool).data ?? {};
    if (name !== undefined && usable.success) broken.delete(name);
    // One without a name cannot even be told of.
    else if (name !== undefined) broken.set(name, { name, description, inputSchema: {}, isBroken: true });
    return usable.success ? [usable.data] : [];
  });
  return { ...message, result: { ...message.result, tools } };
}

const Named = z.object({ name: z.string().min(1), description: z.string().optional().catch(undefined) });
/** What else is wrong with a tool does not matter. */
const Usable = Named.extend({
  title: z.string().optional().catch(undefined),
  annotations: ToolDefinition.shape.annotations.catch(undefined),
  inputSchema: z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), z.union([z.looseObject({}), z.boolean().transform(() => ({}))])).optional(),
    required: z.array(z.string()).optional(),
  }),
});
