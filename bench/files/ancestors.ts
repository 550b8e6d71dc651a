/** Finding the workspace of an agent by its ancestors: the chain is walked once, then known. */
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { bestInTurns, type Figure, timed } from "../figure.ts";
import { must } from "../must.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const atMost = 1.5;

export async function measureAncestors(world: World, sizes: Sizes): Promise<Figure[]> {
  const { shallow, deep, rounds } = sizes;
  const [flat, tall] = [await makeChain(world, shallow), await makeChain(world, deep)];
  const jobs = [firstUs(world, flat), firstUs(world, tall), laterUs(world, flat, sizes), laterUs(world, tall, sizes)];
  const [firstFlat = 0, firstTall = 0, laterFlat = 0, laterTall = 0] = await bestInTurns(rounds, jobs);
  const figure = { unit: "µs" };
  const against = (value: number) => ({ what: `depth ${shallow}`, value });
  return [
    { what: `first look-up at depth ${deep}`, value: firstTall, ...figure, against: against(firstFlat) },
    { what: `later look-ups at depth ${deep}`, value: laterTall, ...figure, against: against(laterFlat), atMost },
  ];
}

type Chain = { readonly conversation: ConversationRow; readonly last: string };

/** A conversation whose agents stand below each other; only the first has a workspace. */
async function makeChain({ storage }: World, depth: number): Promise<Chain> {
  const nameOf = (place: number) => `agent-${depth}-${place}`;
  const id = ConversationId.parse(`chain-${depth}`);
  const conversation = must(await storage.createConversation({ owner: localOwner, id, at: 0, events: [] }));
  const agents = Array.from({ length: depth }, (_, place) => ({
    id: nameOf(place),
    parent: place === 0 ? "root" : nameOf(place - 1),
    ...(place === 0 ? { folder: `workspaces/${nameOf(0)}` } : {}),
  }));
  must(await storage.append({ number: conversation.number, events: [], with: { agents } }));
  return { conversation, last: nameOf(depth - 1) };
}

function firstUs({ openAnew }: World, { conversation, last }: Chain): () => Promise<number> {
  return async () => {
    const workspaces = openAnew();
    return 1_000 * (await timed(async () => must(await workspaces.taskOf(conversation, last))));
  };
}

function laterUs({ openAnew }: World, { conversation, last }: Chain, { lookUps }: Sizes): () => Promise<number> {
  const workspaces = openAnew();
  return async () => {
    must(await workspaces.taskOf(conversation, last));
    const ms = await timed(async () => {
      for (let index = 0; index < lookUps; index += 1) await workspaces.taskOf(conversation, last);
    });
    return (1_000 * ms) / lookUps;
  };
}
