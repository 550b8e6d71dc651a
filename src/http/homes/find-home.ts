import type { HomeKey } from "../../homes/homes.ts";
import { ConversationId, type OwnerId } from "../../protocol/ids.ts";
import { callerOf, type NamedBy } from "../caller.ts";
import type { Call, Parts } from "../handler.ts";

/** What it takes to say where something is at home. */
export type HomeParts = Pick<Parts, "storage" | "sandbox" | "workspaces">;

/** Where what a call is about is at home; undefined: wherever it is asked for. */
export type FindHome<C> = (parts: HomeParts, call: C) => Promise<HomeKey | undefined> | HomeKey | undefined;

type Owned = Pick<Call<"getState">, "owner">;
type ById = Owned & { readonly params: { readonly id: string } };
type InQuery = Owned & { readonly query: { readonly conversation?: string | undefined } };

/** It is about nothing that lives in a server, or about this very server. */
export const here: FindHome<unknown> = () => undefined;

/** What all share and one server looks after: users, keys, models, tool boxes. No owner has this name. */
export const ofYard: FindHome<unknown> = () => "u:*";

export const ofUser: FindHome<Owned> = (_, { owner }) => userKey(owner);

/** The conversation that the path names. */
export const ofConversation: FindHome<ById> = ({ storage }, { owner, params }) =>
  conversationKey(storage, owner, params.id);

/** The conversation that the query names, else the user. */
export const ofConversationAsked: FindHome<InQuery> = async ({ storage }, { owner, query }) =>
  (await conversationKey(storage, owner, query.conversation)) ?? userKey(owner);

/** One conversation, else all that a user has: what is at home elsewhere is cleaned up there. */
export const ofCleaned: FindHome<Call<"cleanWorkspaces">> = async ({ storage }, { owner, body }) =>
  (await conversationKey(storage, owner, body.conversation)) ?? userKey(owner);

/**
 * The conversation that is named, of whoever calls. One that is not there yet is made by its user's home, and stays there.
 * Who may not call is told so wherever they are.
 */
export async function keyOfNamed(parts: HomeParts, named: NamedBy): Promise<HomeKey | undefined> {
  const owner = await callerOf(parts, named);
  if (!owner.ok) return undefined;
  return (await conversationKey(parts.storage, owner.value, named.conversationId)) ?? userKey(owner.value);
}

export function userKey(owner: OwnerId): HomeKey {
  return `u:${owner}`;
}

/** Undefined where the owner has none of this id. */
export async function conversationKey(
  storage: HomeParts["storage"],
  owner: OwnerId,
  id: string | undefined,
): Promise<HomeKey | undefined> {
  const known = ConversationId.safeParse(id);
  const row = known.success ? await storage.findConversation(owner, known.data) : undefined;
  return row && `c:${row.number}`;
}
