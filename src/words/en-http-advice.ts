import type { HttpAdvice, StorageFault } from "./en-failures.ts";
import { enSandbox } from "./en-sandbox.ts";
import { lackTexts } from "./en-sandbox-failures.ts";

/** Who calls a server can seldom change it: what only its operator can do is said to be theirs. */
const ask = (what: string) => `Ask the operator of this server to ${what}.`;
const orAsk = (what: string) => `or ask the operator of this server to ${what}.`;
const seeDoctor = "see what `agentyard doctor` says";

const elsewhere = "choose another data directory";
const storageMends: Readonly<Record<StorageFault, string>> = {
  damaged: "restore the data from a backup",
  io: "check the disk of the data directory",
  removed: "end it, put a backup back and start it again",
  foreign: elsewhere,
  not_a_file: elsewhere,
  place: elsewhere,
  no_wal: elsewhere,
};

/** What to do next where a failure is told over HTTP: commands and files of the operator are out of reach there. */
export const enHttpAdvice = {
  internal: () =>
    "Try again. If it stays so, give that id to the operator of this server: the log file has more under it.",
  forbidden_origin: (p): string =>
    p.host === undefined
      ? "If that site is to be trusted, ask the operator of this server to name it in `server.allowed_origins`."
      : "If that is its name, ask the operator of this server to add it to `server.trusted_hosts`; otherwise call it by its address in numbers.",

  conversation_not_found: () => "List your conversations and use the id of one of them.",
  conversation_ambiguous: () => "Send more of the id.",
  decision_not_found: () => "GET /api/v1/decisions lists what is open.",
  decision_already_made: () => "GET /api/v1/decisions lists what is open.",
  decision_broken: () => ask("check the record of decisions with `agentyard doctor`"),
  answer_required: () => "Send one.",
  compaction_off: () =>
    `Start a new conversation. ${ask("set CONTEXT_MANAGEMENT_ENABLED=true, if long ones are wanted")}`,
  budget_short: () => "Ask for less, wait until other agents have ended, or raise the budget of the conversation.",
  budget_spent: (p): string =>
    p.of === "turn"
      ? "Send another message to go on; each turn has its own budget."
      : "Raise the budget of the conversation, or start a new one.",
  price_unknown: () =>
    `Limit tokens instead of money. ${ask("name its price below `prices`, if money is to be counted")}`,
  context_exhausted: () =>
    "Undo the last turn and send a shorter message, choose a model with a larger window, or start a new conversation.",
  skill_not_found: (p): string =>
    p.near === "" ? "GET /api/v1/skills lists them." : `Did you mean ${p.near}? GET /api/v1/skills lists all.`,
  rule_not_found: () => "GET /api/v1/rules lists what is allowed always.",
  rules_full: () => "Revoke those you no longer need with DELETE /api/v1/rules/{rule}, or approve this call once.",
  memory_full: () => "Forget one that is no longer true with DELETE /api/v1/memory/{memory}, then add this one.",
  memory_not_found: () => "GET /api/v1/memory lists all of them.",
  memory_secret: () => "Send it without the secret.",
  nobody_to_ask: () => "GET /api/v1/decisions has it; answer it there.",

  path_traversal_blocked: () =>
    "Name a file of this conversation by a relative path without `..`, such as uploads/data.csv.",
  too_large: (p) =>
    p.setting === "" ? "Use a smaller file." : `Use a smaller file, ${orAsk(`raise ${p.setting} in agentyard.yaml`)}`,
  quota_exceeded: (p) => `Delete files that are no longer needed, ${orAsk(`raise ${p.setting} in agentyard.yaml`)}`,
  files_in_trash: () =>
    "GET /api/v1/workspaces/trash has their id; POST /api/v1/workspaces/trash/{id}/restore brings them back.",
  trash_not_found: () => "GET /api/v1/workspaces/trash lists what is there.",

  mcp_server_failed: (p) =>
    ({
      ...{ start: ask("check the MCP server and its settings"), http: ask("check the MCP server and its settings") },
      ...{ network: `Try again, ${orAsk("check the MCP server")}`, protocol: ask("check the MCP server") },
      ...{ time: "Try again.", closed: "Try again.", refused: "Read what it says, and ask it differently." },
      ended: "Check whether it was done before you ask again; the next call starts it again.",
      paused: "Try again later, or restart it with POST /api/v1/mcp/servers/{server}/restart.",
    })[p.why],
  mcp_server_not_found: () => "GET /api/v1/mcp/servers lists those there are.",
  mcp_sign_in_needed: () => "POST /api/v1/mcp/servers/{server}/sign-in gives the link to sign in with.",
  mcp_no_sign_in: () => "Use it as it is.",

  sandbox_unavailable: (p) => `The operator of this server can mend it: ${lackTexts(enSandbox.lacks, p)[1]}`,
  sandbox_start_failed: (p) =>
    `Try again, ${orAsk(p.why === "broke_down" ? "report what the log file says" : seeDoctor)}`,
  sandbox_session_create_failed: () => `Send the message without files, ${orAsk(seeDoctor)}`,
  sandbox_busy: (p) => `Try again in ${p.retryAfterSeconds} s, ${orAsk(`raise ${p.setting} in agentyard.yaml`)}`,
  packages_not_configured: (p) => ask(`set ${p.setting} in agentyard.yaml`),
  package_index_refused: (p) => `Leave python_package_index_url out, ${orAsk(`change ${p.setting} in agentyard.yaml`)}`,
  installer_missing: (p) => ask(p.manager === "pip" ? "install python3-pip" : "install npm below /usr"),

  secret_key_unusable: () =>
    ask("see to the key of stored secrets: AGENTYARD_KEY, or the file `key` of the data directory"),
  secret_sealed: (p) =>
    p.why === "damaged" ? "Send the secret anew." : `Send the secret anew, ${orAsk("put the key back that sealed it")}`,

  sign_in_link_used: () => ask("make a new one: `agentyard user link NAME`"),
  scope_missing: (p) => ask(`make one: \`agentyard user key add NAME --scope ${p.scope}\``),
  user_exists: () => "GET /api/v1/users lists all.",
  user_unknown: (p) => (p.as === undefined ? "GET /api/v1/users lists all." : `Name ${p.as} or nobody.`),
  keys_full: () =>
    "Revoke those that nobody uses any more: GET /api/v1/users/{user}/keys shows when each was used last.",
  key_not_found: () => "GET /api/v1/users/{user}/keys lists all.",
  sign_in_as_taken: () =>
    "If they are refused: one that has API keys is not handed over. Revoke those first, with DELETE /api/v1/users/{user}/keys/{key}.",
  proxy_unnamed: () =>
    ask(
      "add a user first (agentyard user add NAME), and to name the proxy in `server.trusted_proxies` of agentyard.yaml",
    ),

  storage_busy: () => `Try again, ${orAsk("close the program that has sessions.db open")}`,
  storage_full: () => `What was acknowledged is safe. ${ask("free some space, then try again")}`,
  storage_read_only: () => ask("make the data directory writable again"),
  storage_broken: (p) => ask(storageMends[p.why] ?? storageMends.damaged),
  storage_newer: () => ask("update AgentYard"),
  database_away: () => `Try again, ${orAsk("see that the database server runs")}`,
  database_unusable: () => ask(seeDoctor),
  database_not_set: () => ask(seeDoctor),
  database_not_empty: () => ask(seeDoctor),
  files_elsewhere: () => ask(seeDoctor),

  model_auth: () => ask("check the API key and that it may use this model"),
  model_quota: () => `Choose another model, ${orAsk("top it up")}`,
  model_overloaded: () => "Send the message again in a while, or choose another model.",
  model_context_overflow: () => "Start a new conversation, or choose a model with a larger window.",
  model_not_found: () => ask("check the model id and the base URL"),
  model_bad_request: (p) =>
    ask(
      p.because === "unsendable"
        ? "check the API key and the base URL"
        : "check the model's settings with `agentyard model test`",
    ),
  model_network: () => `Send the message again, ${orAsk("check the base URL and that the model's server runs")}`,
  model_protocol: (p) => {
    switch (p.because) {
      case "no_choice":
      case "not_json":
        return "Send the message again; if it stays so, choose another model.";
      case "too_long":
      case "too_many_calls":
        return "Ask for less at once, or choose another model.";
      case "redirected":
        return ask("set that as the base URL if it is right");
      default:
        return ask("check that the base URL is that of an OpenAI-compatible API (it often ends in /v1)");
    }
  },
  turn_crashed: () =>
    "Change the request and send it again; the operator of this server has the details in the log file.",
} satisfies HttpAdvice;
