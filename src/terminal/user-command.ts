import type { Writable } from "node:stream";
import { ok } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import type { ApiKey, User } from "../protocol/user-routes.ts";
import type { Words } from "../words/words.ts";
import type { InputStream, OutputStream } from "./console.ts";
import { exitCodes, exitReasonOf } from "./exit-codes.ts";
import { commandFailureText, failureText } from "./failure-text.ts";
import { formatTime, jsonLine } from "./format.ts";
import { alignColumns } from "./model-view.ts";
import { asTyped } from "./own-command.ts";
import { askPassword } from "./password.ts";
import { safeLine } from "./safe-text.ts";
import type { UserCommand } from "./user-line.ts";

type Parts = {
  readonly client: Client;
  readonly words: Words;
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly errors: Writable;
  /** Where the server is reached, if it is known. */
  readonly servedAt?: string | undefined;
};

/** `agentyard user`: through the same door as everybody; this user of this machine may do all of it. */
export async function users(command: UserCommand, parts: Parts): Promise<number> {
  switch (command.action) {
    case "list":
      return listUsers(parts, command);
    case "add":
      return addUser(parts, command);
    case "password":
      return setPassword(parts, command);
    case "remove":
      return removeUser(parts, command);
    case "link":
      return makeLink(parts, command);
    case "key list":
      return listKeys(parts, command);
    case "key add":
      return addKey(parts, command);
    case "key remove": {
      const { user, key: id } = command;
      const removed = await parts.client.call("removeKey", { params: { user, key: id } });
      const { users: texts } = parts.words.terminal;
      return removed.ok
        ? tell(parts, command, { removed: id }, [texts.keyRemoved({ id: safeLine(id, idCellsMax) })])
        : refuse(removed.failure, parts);
    }
  }
}

const idCellsMax = 48;
const nameCellsMax = 60;

type Of<A extends UserCommand["action"]> = Extract<UserCommand, { action: A }>;

async function listUsers(parts: Parts, command: Of<"list">): Promise<number> {
  const { users: texts } = parts.words.terminal;
  const listed = await parts.client.call("listUsers");
  if (!listed.ok) return refuse(listed.failure, parts);
  const { items } = listed.value;
  const { columns, role, hasPassword } = texts;
  const row = ({ id, isAdmin, hasPassword: has, createdAt }: User) => [
    ...[safeLine(id, idCellsMax), isAdmin ? role.admin : role.user],
    ...[has ? hasPassword.yes : hasPassword.no, formatTime(createdAt)],
  ];
  const table = [[columns.user, columns.role, columns.password, columns.added], ...items.map(row)];
  return tell(parts, command, { items }, items.length === 0 ? [texts.none()] : alignColumns(table));
}

async function addUser(parts: Parts, command: Of<"add">): Promise<number> {
  const { users: texts } = parts.words.terminal;
  const { user: id, isAdmin, signInAs, isPasswordPiped } = command;
  const isAsked = signInAs === undefined || isPasswordPiped;
  const password = isAsked ? await askPassword(parts, { ...command, isNeeded: false }) : ok("");
  if (!password.ok) return refuse(password.failure, parts);
  const added = await parts.client.call("addUser", {
    body: {
      id,
      ...(isAdmin && { isAdmin }),
      ...(signInAs !== undefined && { signInAs }),
      ...(password.value !== "" && { password: password.value }),
    },
  });
  if (!added.ok) return refuse(added.failure, parts);
  return tell(parts, command, added.value, [
    texts.added({ id: added.value.id }),
    ...(added.value.isAdmin ? [texts.addedAdmin({ id: added.value.id })] : []),
    signInAs === undefined
      ? texts.addedHow({ id: added.value.id })
      : texts.addedFor({ id: added.value.id, signInAs: safeLine(signInAs, nameCellsMax) }),
  ]);
}

/** Without users the rules are others, which is said. */
async function removeUser(parts: Parts, command: Of<"remove">): Promise<number> {
  const { user: id } = command;
  const { users: texts } = parts.words.terminal;
  const removed = await parts.client.call("removeUser", { params: { user: id } });
  if (!removed.ok) return refuse(removed.failure, parts);
  const left = await parts.client.call("listUsers");
  const isLast = left.ok && left.value.items.length === 0;
  return tell(parts, command, { removed: id }, [texts.removed({ id }), ...(isLast ? [texts.removedLast()] : [])]);
}

async function setPassword(parts: Parts, command: Of<"password">): Promise<number> {
  const { user: id } = command;
  const password = await askPassword(parts, { ...command, isNeeded: true });
  if (!password.ok) return refuse(password.failure, parts);
  const body = { password: password.value };
  const set = await parts.client.call("setPassword", { params: { user: id }, body });
  if (!set.ok) return refuse(set.failure, parts);
  return tell(parts, command, { user: id }, [parts.words.terminal.users.passwordSet({ id })]);
}

async function makeLink(parts: Parts, command: Of<"link">): Promise<number> {
  const { users: texts } = parts.words.terminal;
  const made = await parts.client.call("makeSignInLink", { params: { user: command.user } });
  if (!made.ok) return refuse(made.failure, parts);
  const { user, path, endsAt } = made.value;
  const link = `${parts.servedAt ?? ""}${path}`;
  const about = [
    texts.link({ until: formatTime(endsAt) }),
    ...(parts.servedAt === undefined ? [texts.linkPath()] : []),
  ];
  return tell(parts, command, { user, link, endsAt }, [link, about.join(parts.words.terminal.gap)]);
}

async function listKeys(parts: Parts, command: Of<"key list">): Promise<number> {
  const { users: texts } = parts.words.terminal;
  const listed = await parts.client.call("listKeys", { params: { user: command.user } });
  if (!listed.ok) return refuse(listed.failure, parts);
  const { items } = listed.value;
  const time = (at: number | null) => (at === null ? texts.never : formatTime(at));
  const row = ({ id, shown, name, scopes, usedAt, endsAt, hasEnded }: ApiKey) => [
    ...[safeLine(id, idCellsMax), `${safeLine(shown, idCellsMax)}…`, safeLine(name, nameCellsMax) || "—"],
    ...[scopes.join(" "), time(usedAt), hasEnded ? texts.ended({ at: time(endsAt) }) : time(endsAt)],
  ];
  const table = [Object.values(texts.keyColumns), ...items.map(row)];
  const lines = items.length === 0 ? [texts.noKeys({ id: safeLine(command.user, idCellsMax) })] : alignColumns(table);
  return tell(parts, command, { items }, lines);
}

/** The key alone stands on standard output, so that a script can take it from there. */
async function addKey(parts: Parts, command: Of<"key add">): Promise<number> {
  const { words, output, errors, client } = parts;
  const { user, scopes, label, days } = command;
  const body = {
    scopes: [...scopes],
    ...(label !== undefined && { name: label }),
    ...(days !== undefined && { days }),
  };
  const added = await client.call("addKey", { params: { user }, body });
  if (!added.ok) return refuse(added.failure, parts);
  const { id, key } = added.value;
  if (command.json) output.write(jsonLine(added.value));
  else {
    errors.write(`${words.terminal.users.keyAdded({ id, scopes: added.value.scopes.join(", ") })}\n`);
    output.write(`${key}\n`);
  }
  return exitCodes.done;
}

function tell({ output, words }: Parts, { json }: UserCommand, object: object, lines: readonly string[]): number {
  output.write(json ? jsonLine(object) : `${asTyped(words, lines.join("\n"))}\n`);
  return exitCodes.done;
}

function refuse(failure: ClientFailure | Failure, { words, errors }: Parts): number {
  const text = "detail" in failure ? commandFailureText(words, failure) : failureText(words, failure);
  errors.write(`✗ ${text}\n`);
  return exitCodes[exitReasonOf(failure.code)];
}
