import type { Decision } from "../../src/protocol/resources.ts";
import { must, type TestYard } from "./yard.ts";

/** What a person says to a decision. */
export type Said = {
  readonly verdict: "approve" | "reject" | "edit" | "answer";
  readonly reason?: string;
  readonly arguments?: string;
  readonly answer?: string;
  readonly always?: { readonly option?: number; readonly scope: "conversation" | "user" };
  readonly equal?: boolean;
};

/** What waits in a conversation, oldest first. */
export async function waitingIn(yard: TestYard, id: string): Promise<Decision[]> {
  return (await must(yard.client.call("getState", { params: { id } }))).decisions;
}

/** What waits anywhere, as the inbox shows it. */
export async function inboxOf(yard: TestYard): Promise<Decision[]> {
  return (await must(yard.client.call("listDecisions", {}))).items;
}

/** Says something to a decision; the code of the failure where it was refused. */
export async function say(yard: TestYard, decision: Decision | undefined, body: Said): Promise<string[] | string> {
  const params = { id: decision?.conversation ?? "none", decision: decision?.id ?? "none" };
  const made = await yard.client.call("decide", { params, body });
  return made.ok ? made.value.also : made.failure.code;
}

/** What the model was told of each call of the newest answer, in the order of the calls. */
export function toldResults(body: { readonly messages: readonly { role: string; content: unknown }[] }): string[] {
  const answer = body.messages.findLastIndex(({ role }) => role === "assistant");
  return body.messages.slice(answer).flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
}
