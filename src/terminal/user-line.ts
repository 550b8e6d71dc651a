import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { type Scope, scopes } from "../protocol/route.ts";
import { userLimits } from "../protocol/user-routes.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";
import type { OptionName } from "./sub-commands.ts";

/** `agentyard user`. */
export type UserCommand = { readonly name: "user"; readonly json: boolean } & (
  | { readonly action: "list" }
  | {
      readonly action: "add";
      readonly user: string;
      readonly isAdmin: boolean;
      readonly isPasswordPiped: boolean;
      readonly signInAs?: string;
    }
  | { readonly action: "password"; readonly user: string; readonly isPasswordPiped: boolean }
  | { readonly action: "remove"; readonly user: string }
  | { readonly action: "link"; readonly user: string }
  | { readonly action: "key list"; readonly user: string }
  | {
      readonly action: "key add";
      readonly user: string;
      readonly scopes: readonly Scope[];
      readonly label?: string;
      readonly days?: number;
    }
  | { readonly action: "key remove"; readonly user: string; readonly key: string }
);

type Action = UserCommand["action"];

/** Which options an action has, besides `--json`. */
const optionsOf: Readonly<Record<Action, readonly OptionName[]>> = {
  list: [],
  add: ["admin", "password-stdin", "sign-in-as"],
  password: ["password-stdin"],
  remove: [],
  link: [],
  "key list": [],
  "key add": ["scope", "label", "days"],
  "key remove": [],
};
const ownOptions: readonly OptionName[] = ["admin", "password-stdin", "sign-in-as", "scope", "label", "days"];
const { keyDaysMax: daysMax } = userLimits;

export function readUser(rest: readonly string[], typed: Typed, words: TerminalWords): UsageResult<UserCommand> {
  const { usage: says } = words;
  const [first = "list", second, ...others] = rest;
  const isKey = first === "key";
  const action = readAction(isKey ? `key ${second ?? "list"}` : first);
  if (action === undefined) {
    return isKey
      ? usage(says.valueUnfit({ name: "user key", value: second ?? "", known: "add, list, remove" }))
      : usage(says.valueUnfit({ name: "user", value: first, known: "list, add, remove, password, link, key" }));
  }
  const stranger = ownOptions.find((option) => typed.has(option) && !optionsOf[action].includes(option));
  const command = `user ${action}`;
  if (stranger !== undefined) return usage(says.unknownOption({ name: `--${stranger}`, command, near: undefined }));
  const given = isKey ? others : rest.slice(1);
  const wanted = action === "list" ? [] : action === "key remove" ? ["NAME", "ID"] : ["NAME"];
  const missing = wanted.find((_, index) => (given[index] ?? "").trim() === "");
  if (missing !== undefined) return usage(says.argumentMissing({ command, name: missing }));
  const unwanted = given[wanted.length];
  if (unwanted !== undefined) return usage(says.argumentUnwanted({ command, value: unwanted }));
  const [user = "", key = ""] = given;
  return completed(action, { user, key }, typed, words);
}

function completed(
  action: Action,
  { user, key }: { readonly user: string; readonly key: string },
  typed: Typed,
  { usage: says }: TerminalWords,
): UsageResult<UserCommand> {
  const common = { name: "user", json: typed.has("json") } as const;
  const isPasswordPiped = typed.has("password-stdin");
  switch (action) {
    case "list":
      return ok({ ...common, action });
    case "add": {
      const signInAs = typed.value("sign-in-as");
      const added = { ...common, action, user, isAdmin: typed.has("admin"), isPasswordPiped };
      return ok({ ...added, ...(signInAs !== undefined && { signInAs }) });
    }
    case "password":
      return ok({ ...common, action, user, isPasswordPiped });
    case "remove":
    case "link":
    case "key list":
      return ok({ ...common, action, user });
    case "key remove":
      return ok({ ...common, action, user, key });
    case "key add": {
      const asked = typed.values("scope").flatMap((text) => text.split(","));
      const unknown = asked.find((scope) => !scopes.some((known) => known === scope));
      const days = typed.value("days");
      const label = typed.value("label");
      if (unknown !== undefined)
        return usage(says.valueUnfit({ name: "--scope", value: unknown, known: scopes.join(", ") }));
      if (days !== undefined && !(/^\d{1,5}$/.test(days) && Number(days) >= 1 && Number(days) <= daysMax))
        return usage(says.numberUnfit({ name: "--days", value: days, from: 1, to: daysMax }));
      return ok({
        ...{ ...common, action, user },
        scopes: asked.length === 0 ? usualScopes : scopes.filter((scope) => asked.includes(scope)),
        ...(label !== undefined && { label }),
        ...(days !== undefined && { days: Number(days) }),
      });
    }
  }
}

/** What other software needs that talks and has files; nobody becomes an admin by default. */
const usualScopes: readonly Scope[] = ["chat", "files"];

function readAction(text: string): Action | undefined {
  return actions.find((action) => action === text);
}

const actions: readonly Action[] = ["list", "add", "password", "remove", "link", "key list", "key add", "key remove"];

function usage(what: string) {
  return failure("usage", { what, command: "user" });
}
