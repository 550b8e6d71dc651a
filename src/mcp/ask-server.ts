import type {
  CallToolResult,
  Client,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  RequestOptions,
  Resource,
} from "@modelcontextprotocol/client";
import { failed, ok, type Result } from "../base/result.ts";
import { type Fault, faultOf } from "./faults.ts";

// What a server can be asked, each with its faults as values.

/** Longer than any limit of ours: whoever asks says when it is enough. */
const timeout = 2 ** 31 - 1;

type How = Pick<RequestOptions, "signal" | "onprogress">;

export async function callTool(
  client: Client,
  call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  how: How,
): Promise<Result<CallToolResult, Fault>> {
  try {
    return ok(await client.callTool({ ...call }, { ...how, timeout }));
  } catch (error) {
    return failed(faultOf(error));
  }
}

export async function listResources(client: Client, how: How): Promise<Result<readonly Resource[], Fault>> {
  try {
    return ok((await client.listResources(undefined, { ...how, timeout })).resources);
  } catch (error) {
    return failed(faultOf(error));
  }
}

export async function readResource(client: Client, uri: string, how: How): Promise<Result<ReadResourceResult, Fault>> {
  try {
    return ok(await client.readResource({ uri }, { ...how, timeout }));
  } catch (error) {
    return failed(faultOf(error));
  }
}

export async function listPrompts(client: Client, how: How): Promise<Result<readonly Prompt[], Fault>> {
  try {
    return ok((await client.listPrompts(undefined, { ...how, timeout })).prompts);
  } catch (error) {
    return failed(faultOf(error));
  }
}

export async function getPrompt(
  client: Client,
  prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  how: How,
): Promise<Result<GetPromptResult, Fault>> {
  try {
    return ok(await client.getPrompt({ ...prompt }, { ...how, timeout }));
  } catch (error) {
    return failed(faultOf(error));
  }
}
