/** The one table of what can be typed after `agentyard`: parsing, help and shell completion are made from it. */
export const options = {
  data: { type: "string", value: "DIR" },
  lang: { type: "string", value: "en|zh" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  json: { type: "boolean" },
  "stream-json": { type: "boolean" },
  yes: { type: "string", short: "y", value: "RULE" },
  "json-schema": { type: "string", value: "FILE" },
  url: { type: "string", value: "URL" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r", value: "ID" },
  slot: { type: "string", short: "m", value: "SLOT" },
  plain: { type: "boolean" },
  "screen-reader": { type: "boolean" },
  file: { type: "string", short: "f", value: "PATH" },
  "max-budget": { type: "string", value: "USD" },
  "max-turns": { type: "string", value: "N" },
  request: { type: "string", value: "FILE" },
  conversation: { type: "string", value: "ID" },
  language: { type: "string", value: "python|bash|javascript" },
  timeout: { type: "string", value: "SECONDS" },
  host: { type: "string", value: "ADDRESS" },
  port: { type: "string", value: "PORT" },
  fix: { type: "boolean" },
  facts: { type: "string", value: "FILE" },
  "base-path": { type: "string", value: "PATH" },
  open: { type: "boolean" },
  admin: { type: "boolean" },
  "password-stdin": { type: "boolean" },
  "sign-in-as": { type: "string", value: "EMAIL|SUB" },
  scope: { type: "string", value: "chat|files|admin" },
  label: { type: "string", value: "TEXT" },
  days: { type: "string", value: "N" },
  limit: { type: "string", value: "N" },
  queries: { type: "string", value: "FILE" },
  "include-key": { type: "boolean" },
  replace: { type: "boolean" },
} as const satisfies Record<string, Option>;

/** Other names that users of such programs bring with them. */
export const aliases: Readonly<Record<string, OptionName>> = {
  model: "slot",
  "max-budget-usd": "max-budget",
  "max-steps": "max-turns",
};

export const globalOptions: readonly OptionName[] = ["data", "lang", "help", "version"];

export const subCommands = {
  chat: { form: "", options: ["continue", "resume", "slot", "plain", "screen-reader", "url"], words: [] },
  serve: { form: "", options: ["host", "port", "base-path", "open"], words: [] },
  run: {
    form: "[MESSAGE… | -]",
    options: [
      ...(["file", "json", "stream-json", "json-schema", "yes", "max-budget", "max-turns"] as const),
      ...(["continue", "resume", "slot", "url"] as const),
    ],
    words: [],
  },
  model: { form: "[list | test [SLOT]]", options: ["json", "request"], words: ["list", "test"] },
  approvals: {
    form: "[list | test TOOL ARGUMENTS_JSON | rules | revoke ID]",
    options: ["json", "facts"],
    words: ["list", "test", "rules", "revoke"],
  },
  log: { form: "ID", options: ["json", "url"], words: [] },
  replay: { form: "ID", options: ["json", "url"], words: [] },
  config: { form: "", options: ["json"], words: [] },
  doctor: { form: "", options: ["json", "fix"], words: [] },
  exec: { form: "[CODE | -]", options: ["file", "language", "conversation", "timeout", "json"], words: [] },
  search: { form: "[QUERY] PATH…", options: ["limit", "queries", "json"], words: [] },
  sandbox: { form: "", options: ["host", "port"], words: [] },
  "sandbox-host": { form: "", options: ["host", "port"], words: [] },
  mcp: { form: "", options: [], words: [] },
  user: {
    form: "[list | add NAME | remove NAME | password NAME | link NAME | key add NAME | key list NAME | key remove NAME ID]",
    options: ["admin", "password-stdin", "sign-in-as", "scope", "label", "days", "json"],
    words: ["list", "add", "remove", "password", "link", "key"],
  },
  backup: { form: "FILE", options: ["include-key", "json"], words: [] },
  restore: { form: "FILE", options: ["replace", "json"], words: [] },
  migrate: { form: "", options: ["json"], words: [] },
  completion: { form: "bash|zsh|fish", options: [], words: ["bash", "zsh", "fish"] },
} as const satisfies Record<string, SubCommand>;

export type OptionName = keyof typeof options;
export type SubCommandName = keyof typeof subCommands;

type Option = { readonly type: "string" | "boolean"; readonly short?: string; readonly value?: string };
type SubCommand = {
  /** Its arguments, as help shows them. */
  readonly form: string;
  readonly options: readonly OptionName[];
  /** What its first argument can be, for completion. */
  readonly words: readonly string[];
};

export const subCommandNames: readonly SubCommandName[] = Object.keys(subCommands).filter(isSubCommand);

export function isSubCommand(name: string): name is SubCommandName {
  return Object.hasOwn(subCommands, name);
}

/** The command's own options and those of every command. */
export function optionsOf(name: SubCommandName): readonly OptionName[] {
  return [...subCommands[name].options, ...globalOptions];
}

export function optionValue(name: OptionName): string {
  const option: Option = options[name];
  return option.value ?? "";
}

export function optionShort(name: OptionName): string | undefined {
  const option: Option = options[name];
  return option.short;
}
