import type { AddressFault } from "../base/fault.ts";
import { clientFailures } from "./client-failures.ts";
import { enAgentFailures } from "./en-agent-failures.ts";
import { enBudgetFailures } from "./en-budget.ts";
import { enChatFailures } from "./en-chat-failures.ts";
import { enContextFailures } from "./en-context-failures.ts";
import { enDatabaseFailures } from "./en-database-failures.ts";
import { enDocumentFailures } from "./en-document-failures.ts";
import { enFileFailures } from "./en-file-failures.ts";
import { enMcpFailures } from "./en-mcp-failures.ts";
import { type ModelTrouble, modelTrouble } from "./en-model-faults.ts";
import { enOperatorFailures } from "./en-operator-failures.ts";
import { enSandboxFailures } from "./en-sandbox-failures.ts";
import { enSecretFailures } from "./en-secret-failures.ts";
import { enServeFailures } from "./en-serve-failures.ts";
import { enUploadFailures } from "./en-upload-failures.ts";
import { enWebFailures } from "./en-web-failures.ts";

/** What fits, where a shape or a size is not to be guessed. */
const rules = {
  conversation_id:
    "It has 1 to 64 letters (A–Z, a–z), digits and . _ -, begins with a letter or a digit, has no two dots in a row, and is none of uploads, outputs, temp, skills.",
  user_id: "It has 1 to 48 letters (A–Z, a–z), digits and . _ @ -.",
  env_vars: "Names and values have no more than 32 KiB together, as JSON has them.",
  event: "It has no more than 1 MiB, as JSON has it.",
  depth: "No more than 200 lists and objects stand within each other.",
  values: "It has no more than 600,000 values, and no more than 150,000 names of members.",
  cursor: "Send an id that you received with an event of this stream, as it was, or leave it out.",
};

/** One entry per failure code: what happened, and what to do next. Parameters never hold a secret or a host path. */
export const enFailures = {
  ...enBudgetFailures,
  ...enContextFailures,
  ...enChatFailures,
  ...enServeFailures,
  ...enFileFailures,
  ...enSandboxFailures,
  ...enUploadFailures,
  ...enDocumentFailures,
  ...enDatabaseFailures,
  ...enWebFailures,
  ...enSecretFailures,
  ...enOperatorFailures,
  ...enAgentFailures,
  ...enMcpFailures,
  bad_request: (p: { what: string; rule?: keyof typeof rules | "missing" }) =>
    p.rule === "missing"
      ? [`The request does not fit: ${p.what}: missing or empty.`, "Send it with the rest."]
      : [
          `The request does not fit: ${p.what}.`,
          p.rule === undefined ? "Correct it and send it again." : rules[p.rule],
        ],
  bad_json: () => ["The body is not JSON.", "Send a JSON object with the header content-type: application/json."],
  content_type_unfit: (p: { type: string }) => [
    p.type === "" ? "The request does not say what kind of content it has." : `This route does not take ${p.type}.`,
    "Send the bytes with the header content-type: application/octet-stream.",
  ],
  body_too_large: (p: { limitBytes: number }) => [
    `The body is larger than ${p.limitBytes} bytes.`,
    "Send less at once.",
  ],
  route_not_found: (p: { path: string }) => [
    `There is nothing at ${p.path}.`,
    "See the list of routes at /api/v1/openapi.json.",
  ],
  method_not_allowed: (p: { method: string; allowed: string }) => [
    `This route does not take ${p.method}.`,
    `Use one of: ${p.allowed}.`,
  ],
  network: clientFailures.en.network,
  answer_unreadable: clientFailures.en.answer_unreadable,
  /** `host`: the name that it was called by, where that is the matter. */
  forbidden_origin: (p: { host?: string }) =>
    p.host === undefined
      ? [
          "This request comes from a page of another site.",
          "If you trust that site, name it in `server.allowed_origins` of agentyard.yaml.",
        ]
      : [
          `This server does not go by the name “${p.host}”.`,
          "If that is its name, add it to `server.trusted_hosts` in agentyard.yaml; otherwise call it by its address in numbers.",
        ],
  internal: (p: { id: string }) => [
    `Something went wrong inside AgentYard (error ${p.id}).`,
    "Try again. If it happens again, look under that id in the log file, and report what stands there.",
  ],

  conversation_not_found: (p: { id: string }) => [`Conversation not found: ${p.id}.`, "List them with /sessions."],
  conversation_ambiguous: (p: { prefix: string; candidates: string }) => [
    `${p.prefix} fits several conversations: ${p.candidates}.`,
    "Type more of the id.",
  ],
  conversation_exists: (p: { id: string }) => [
    `There is a conversation ${p.id} already.`,
    "Choose another id or go on with that one.",
  ],
  conversation_busy: (p: { id: string }) => [
    `A turn is running in ${p.id}.`,
    "Stop it first, or wait until it has ended.",
  ],
  checkpoint_not_found: (p: { checkpoint: number }) => [
    `There is no checkpoint ${p.checkpoint}.`,
    "List the checkpoints of the conversation and choose one of them.",
  ],
  message_not_found: (p: { id: string }) => [
    `There is no message ${p.id} for this.`,
    "One that waits can be withdrawn until its turn begins; one to be answered again must be in this conversation.",
  ],
  turn_not_running: () => ["No turn is running.", "There is nothing to stop; send a message to start one."],
  decision_not_found: (p: { id: string }) => [`There is no open decision ${p.id}.`, "See what is open with /inbox."],
  decision_already_made: (p: { id: string; verdict: string }) => [
    `Decision ${p.id} was already made: ${p.verdict}.`,
    "See what is open with /inbox.",
  ],
  decision_verdict_unfit: (p: { kind: string; verdicts: string }) => [
    `This is a ${p.kind}.`,
    `Answer it with one of: ${p.verdicts}.`,
  ],
  answer_required: () => ["An answer is needed here.", "Type one."],

  fenced: () => [
    "Another server has taken over this conversation.",
    "Nothing is lost; open the conversation again to see how it goes on.",
  ],
  log_moved: () => ["The conversation has moved on in the meantime.", "Look at it again and repeat what you wanted."],
  storage_busy: () => [
    "The database is locked by another program.",
    "Close the program that has sessions.db open, then try again.",
  ],
  storage_full: () => [
    "The disk is full: nothing more can be stored.",
    "Free some space; what was acknowledged is safe.",
  ],
  storage_read_only: () => [
    "The data directory cannot be written.",
    "Give this user write permission, or choose another with --data.",
  ],
  /** `said`: what SQLite or the system says of it. A log of before there were causes has a sentence as `why`. */
  storage_broken: (p: { why: StorageFault; said?: string }) => [
    `The database cannot be used: ${storageFaults[p.why]?.what ?? p.why}${p.said === undefined ? "" : ` (${p.said})`}.`,
    storageFaults[p.why]?.next ?? storageFaults.damaged.next,
  ],
  storage_newer: (p: { found: number; known: number }) => [
    `This data was written by a newer AgentYard (format ${p.found}; this one knows ${p.known}).`,
    "Update AgentYard, or choose another data directory with --data.",
  ],
  owner_unreachable: (p: { pid: number }) => [
    `Another AgentYard (process ${p.pid}) uses this data directory and does not answer.`,
    "End that process, or choose another data directory with --data.",
  ],
  data_in_use: (p: { pid: number }) => [
    `Another AgentYard (process ${p.pid}) uses this data directory.`,
    "End that process first, which may be a terminal that is still open, or choose another data directory with --data.",
  ],
  /** `free`: the next port that nobody has. */
  address_unusable: (p: { host: string; port: number; why: AddressFault; said: string; free?: number }) => [
    `${p.host}:${p.port} cannot be listened on: ${addressFaults[p.why]?.what ?? p.said}.`,
    p.free === undefined
      ? (addressFaults[p.why]?.next ?? "Choose another address with --host, or another port with --port.")
      : `Use the next free one: agentyard serve --port ${p.free}`,
  ],
  owner_other_version: (p: { theirs: string; ours: string }) => [
    `The AgentYard that uses this data directory speaks version ${p.theirs}, this one ${p.ours}.`,
    "End the older one and start again.",
  ],

  message_blank: () => [
    "The message is empty: it has no character that can be seen.",
    "Write something, then send it.",
  ],
  slot_unknown: (p: { slot: string; known: string }) => [
    `There is no model slot ${p.slot}.`,
    `Use one of: ${p.known}.`,
  ],
  model_fixed: (p: { slot: string; variable: string }) => [
    `The model of the slot ${p.slot} is set where AgentYard is started, and that counts.`,
    `Change it there (${p.variable}), or remove it there to enter one here.`,
  ],
  model_not_entered: (p: { slot: string }) => [
    `No model was entered for the slot ${p.slot}.`,
    "There is nothing to remove.",
  ],
  model_half_set: (p: { what: string }) => [
    `A model is configured only in part. ${p.what}`,
    "Complete it, or remove these settings to get the demo model.",
  ],
  model_auth: (p: { model: string; server: string; said: string }) => [
    `${p.server} refuses the key for ${p.model}: ${p.said}`,
    "Check the API key and that it may use this model.",
  ],
  model_quota: (p: { model: string; server: string; said: string }) => [
    `${p.server} says the account has no credit or its limit is used up: ${p.said}`,
    "Top it up, or choose another model with /model.",
  ],
  model_rate_limit: (p: { model: string; server: string; said: string }) => [
    `${p.server} asks to slow down: ${p.said}`,
    "Wait a moment and send the message again.",
  ],
  model_context_overflow: (p: { model: string; server: string; said: string }) => [
    `The conversation is too long for ${p.model}: ${p.said}`,
    "Start a new one with /new, forget what was said with /reset, or choose a model with a larger window.",
  ],
  model_not_found: (p: { model: string; server: string; said: string }) => [
    `${p.server} has no model ${p.model}: ${p.said}`,
    "Check the model id and the base URL in .env.",
  ],
  model_bad_request: (p: ModelTrouble) =>
    modelTrouble(p, [
      `${p.server} refuses the request: ${p.said}`,
      "Check the model's settings with `agentyard model test`.",
    ]),
  model_overloaded: (p: ModelTrouble) =>
    modelTrouble(p, [
      `${p.server} cannot answer at the moment: ${p.said}`,
      "Send the message again in a while, or choose another model with /model.",
    ]),
  model_network: (p: ModelTrouble) =>
    modelTrouble(p, [
      `${p.server} cannot be reached or broke off: ${p.said}`,
      "Check the base URL, the network and that the server runs; then send the message again.",
    ]),
  model_protocol: (p: ModelTrouble) =>
    modelTrouble(p, [
      `The answer of ${p.server} makes no sense: ${p.said}`,
      "Check that the base URL is that of an OpenAI-compatible API (it often ends in /v1).",
    ]),
  turn_crashed: (p: { times: number }) => [
    `This turn ended the process ${p.times} times and was parked.`,
    "Change the request and send it again; the log file has the details.",
  ],

  tool_not_found: (p: { name: string; near: string }) => [`There is no tool ${p.name}.`, `Use one of: ${p.near}.`],
  /** `why`: what they are instead of an object, or what the reader of JSON says. */
  tool_arguments_broken: (p: { tool: string; why: string; because?: "no_object" }) => [
    `The arguments of ${p.tool} are ${p.because === undefined ? `not JSON: ${p.why}` : `${p.why}, not a JSON object`}.`,
    "Send them again as one JSON object.",
  ],
  tool_arguments_cut: (p: { tool: string }) => [
    `The arguments of ${p.tool} were cut off by the output limit.`,
    "Make the same call with less text at once.",
  ],
  tool_arguments_unfit: (p: { tool: string; what: string; form: string }) => [
    `The arguments of ${p.tool} do not fit: ${p.what}.`,
    `Send: ${p.form}.`,
  ],
  /** `said`: in its own words. */
  tool_failed: (p: { tool: string; said: string }) => [
    `${p.tool} failed: ${p.said.replace(/[.\s]+$/, "")}.`,
    "Change what was asked for, or go another way.",
  ],
  tool_crashed: (p: { tool: string }) => [`${p.tool} broke down.`, "Try it another way; the log file has the details."],
  tool_timeout: (p: { tool: string; seconds: number }) => [
    `${p.tool} took longer than ${p.seconds} seconds and was stopped.`,
    "Ask for less at once.",
  ],
  tool_cancelled: (p: { tool: string }) => [`${p.tool} was stopped by the user.`, "Ask before trying it again."],
  tool_interrupted: (p: { tool: string }) => [
    `${p.tool} was interrupted, its state is unknown: it may or may not have happened.`,
    "Check what is there before you repeat it.",
  ],
  tool_rejected: (p: { tool: string; why: string }) => [
    `The user rejected ${p.tool}${p.why}.`,
    "Do not try it again in another form; go on without it or ask.",
  ],
  /** `because` is for people in other languages. */
  tool_not_run: (p: { tool: string; why: string; because?: "stopped" | "paused" | "steps" | "budget" }) => [
    `${p.tool} was not run: ${p.why}.`,
    "Answer from what is known.",
  ],
  tool_repeated: (p: { tool: string; times: number }) => [
    `${p.tool} was asked for the ${p.times}th time with the same arguments and gave the same result.`,
    "It was not run again; answer from what is known.",
  ],
  timezone_unknown: (p: { zone: string }) => [
    `There is no time zone ${p.zone}.`,
    "Use an IANA name such as Asia/Shanghai or Europe/Berlin.",
  ],

  config_invalid: (p: { file: string; line: number; what: string; instead: string }) => [
    `${p.file}:${p.line}: ${p.what}.`,
    `${p.instead}.`,
  ],
  setting_invalid: (p: { name: string; value: string; instead: string }) => [
    `${p.name} is ${p.value}.`,
    `Set it to ${p.instead}.`,
  ],
  usage: (p: { what: string; command?: string }) => [
    `${p.what}.`,
    `\`agentyard ${p.command === undefined ? "" : `${p.command} `}--help\` shows what there is.`,
  ],
  answer_unfit: (p: { why: string }) => [
    `The answer does not fit the JSON Schema that was asked for: ${p.why}.`,
    "Run it again, simplify the schema, or use a stronger model.",
  ],
  nobody_to_ask: (p: { tool: string }) => [
    `${p.tool} needs a decision and nobody is here to make it.`,
    "Answer it with `agentyard`, then /inbox.",
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

export type FailureWords = typeof enFailures;

/** What to do next, where who reads it needs other advice than the table has. */
export type HttpAdvice = {
  readonly [C in keyof FailureWords]?: (
    ...params: Parameters<FailureWords[C]> extends [infer P] ? [params: P] : []
  ) => string;
};

/** What may be the matter with the database. */
export type StorageFault = "damaged" | "io" | "removed" | "foreign" | "not_a_file" | "place" | "no_wal";
const storageFaults: Readonly<Record<StorageFault, { readonly what: string; readonly next: string }>> = {
  damaged: {
    what: "it is damaged, or no database",
    next: "Restore it from a backup, or choose another data directory with --data.",
  },
  io: {
    what: "the disk reports an error",
    next: "Check the disk; then try again, or restore a backup to another one.",
  },
  removed: {
    what: "it was removed or replaced while it was open",
    next: "End AgentYard, put a backup back, and start it again.",
  },
  foreign: {
    what: "it belongs to another program",
    next: "Choose another data directory with --data; that program's file was not touched.",
  },
  not_a_file: {
    what: "its place is taken by something that is no file",
    next: "Move that away, or choose another data directory with --data.",
  },
  place: {
    what: "its path cannot be used",
    next: "Check that every part of the path is a folder, or choose another data directory with --data.",
  },
  no_wal: {
    what: "this file system cannot hold a write-ahead log",
    next: "Choose a data directory on a local disk with --data.",
  },
};

const addressFaults: Readonly<Record<AddressFault, { readonly what: string; readonly next: string } | undefined>> = {
  taken: {
    what: "another program has this port",
    next: "Choose another port with --port, or end the program that has it.",
  },
  needs_root: {
    what: "ports below 1024 need root",
    next: "Choose a higher port with --port, and let a proxy pass the low one on.",
  },
  not_here: {
    what: "this machine has no such address",
    next: "Use --host 127.0.0.1 for this machine alone, or --host 0.0.0.0 for all its addresses.",
  },
  unknown_name: {
    what: "this name is not known",
    next: "Check --host: it takes an address or a name of this machine.",
  },
  other: undefined,
};
