import { failed, ok, type Result } from "../base/result.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import { shownId } from "../protocol/ids.ts";
import { isForOthers } from "./access.ts";
import type { Held } from "./boxes.ts";
import { noteOf, sealedText, secretName } from "./credential.ts";
import { addTools, readNewTools } from "./new-tools.ts";
import type { Actor, BoxWanted, Desk, Operators } from "./operators.ts";
import type { Box, Credential } from "./records.ts";
import { serverOf } from "./server-address.ts";

const boxesPerUserMax = 100;

/** Boxes are made, changed, published and taken away by whoever registered them, one change after the other. */
export function boxChanges(desk: Desk): Pick<Operators, "create" | "change" | "setStatus" | "remove"> {
  const { parts, boxes, inTurn, seen, owned, forChange } = desk;
  const { clock, secrets } = parts;
  return {
    create: (actor, id, wanted, newTools) => inTurn(() => create(desk, actor, { id, wanted, newTools })),
    change: (actor, id, wanted) => inTurn(() => change(desk, actor, { id, wanted })),
    setStatus: (actor, id, status) =>
      inTurn(async () => {
        // Taking it off is for whoever registered it, whatever their key opens.
        const found = status === "published" ? forChange(actor, id) : owned(actor, id);
        if (!found.ok) return found;
        const { box } = found.value;
        const releasedAt = status === "published" ? clock.now() : box.releasedAt;
        const stored = await boxes.put({ ...box, status, releasedAt, updatedAt: clock.now() });
        return stored.ok ? seen(actor.owner, id) : stored;
      }),
    remove: (actor, id) =>
      inTurn(async () => {
        const found = owned(actor, id);
        if (!found.ok) return found;
        const { box } = found.value;
        const removed = await boxes.remove(box);
        if (!removed.ok) return removed;
        const dropped = await secrets.drop(box.owner, secretName(id));
        return dropped.ok ? ok(undefined) : dropped;
      }),
  };
}

type Creating = {
  readonly id: string;
  readonly wanted: BoxWanted;
  readonly newTools: Parameters<Operators["create"]>[3];
};

async function create(desk: Desk, actor: Actor, { id, wanted, newTools }: Creating): ReturnType<Operators["create"]> {
  const { parts, boxes } = desk;
  const before = boxes.find(id);
  // The same call again, after its answer was lost: what was made is there.
  if (before !== undefined) return ok({ tools: [...before.tools.values()], failures: [], renamed: [] });
  const mine = boxes.all().filter(({ box }) => box.owner === actor.owner);
  if (mine.length >= boxesPerUserMax) return failure("toolboxes_full", { max: boxesPerUserMax });
  const read = await readNewTools(parts, newTools, wanted.server);
  if (!read.ok) return read;
  const name = (wanted.name ?? read.value.title ?? "").slice(0, nameCharactersMax);
  const permitted = wanted.permitted ?? { all: false, users: [] };
  const unfit = permittedUnfit(actor, permitted) ?? nameUnfit(mine, name);
  if (unfit !== undefined) return failed(unfit);
  const now = parts.clock.now();
  const box: Box = {
    ...{ id, owner: actor.owner, createdAt: now, updatedAt: now, name, status: "unpublish" },
    description: wanted.description ?? (read.value.description ?? "").slice(0, descriptionCharactersMax),
    ...{ server: read.value.server, category: wanted.category ?? "other_category" },
    permitted,
    ...(wanted.credential && { credential: noteOf(wanted.credential) }),
    isPrivateAllowed: actor.isAdmin,
  };
  const added = await addTools(parts, { box, tools: [], userBytes: boxes.bytesOf(actor.owner) }, read.value);
  // First what the box cannot do without: one without its credential would only be refused everywhere.
  const sealed = await seal(desk, box, wanted.credential);
  if (!sealed.ok) return sealed;
  const stored = await boxes.put(box, added.tools);
  return stored.ok ? ok(added) : stored;
}

const nameCharactersMax = 100;
const descriptionCharactersMax = 2_000;

async function change(desk: Desk, actor: Actor, { id, wanted }: { readonly id: string; readonly wanted: BoxWanted }) {
  const { parts, boxes, owned, seen } = desk;
  const found = owned(actor, id);
  if (!found.ok) return found;
  const { box } = found.value;
  const others = boxes.all().filter((held) => held.box.owner === actor.owner && held.box.id !== id);
  const { name = box.name, description = box.description, category = box.category, permitted = box.permitted } = wanted;
  const unfit =
    permittedUnfit(actor, permitted) ?? (wanted.name === undefined ? undefined : nameUnfit(others, wanted.name));
  if (unfit !== undefined) return failed(unfit);
  const server = serverOf(wanted.server ?? box.server, undefined);
  if (!server.ok) return server;
  const isMoved = new URL(server.value).origin !== new URL(box.server).origin;
  // A credential was entered for one host: another one does not get it.
  const credential = wanted.credential === undefined && isMoved ? null : wanted.credential;
  const changed: Box = {
    ...{ ...box, name, description, category, permitted, server: server.value, updatedAt: parts.clock.now() },
    credential: credential === undefined ? box.credential : credential === null ? undefined : noteOf(credential),
    isPrivateAllowed: isMoved ? actor.isAdmin : box.isPrivateAllowed,
  };
  const sealed = await seal(desk, changed, credential);
  if (!sealed.ok) return sealed;
  const stored = await boxes.put(changed);
  return stored.ok ? seen(actor.owner, id) : stored;
}

/** Undefined leaves it as it is, null takes it away. */
async function seal(
  { parts }: Desk,
  { owner, id, server }: Box,
  credential: Credential | null | undefined,
): Promise<Result<unknown, Failure>> {
  if (credential === undefined) return ok(undefined);
  const { secrets } = parts;
  const name = secretName(id);
  return credential === null ? secrets.drop(owner, name) : secrets.put(owner, name, sealedText(credential, server));
}

/** What is permitted to others is told to their agents, whatever of it is new: that is for those who see to all users. */
function permittedUnfit({ owner, isAdmin }: Actor, permitted: Box["permitted"]): Failure | undefined {
  return isForOthers({ owner, permitted }) && !isAdmin ? makeFailure("scope_missing", { scope: "admin" }) : undefined;
}

function nameUnfit(others: readonly Held[], name: string): Failure | undefined {
  if (name === "") return makeFailure("bad_request", { what: "body.box_name", rule: "missing" });
  const isTaken = others.some(({ box }) => box.name === name);
  return isTaken ? makeFailure("toolbox_name_taken", { name: shownId(name) }) : undefined;
}
