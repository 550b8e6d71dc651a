import { posix } from "node:path";
import type { Finding } from "../protocol/approval.ts";
import type { CallFacts, JudgedCall } from "./approvals.ts";
import { argumentTexts, shortened, textOf } from "./argument-texts.ts";
import { codeFindings } from "./code.ts";
import { commandFindings } from "./commands.ts";
import type { Action } from "./rules.ts";
import { secretIn, withoutSecrets } from "./secrets.ts";

export type Otherwise = {
  /** For a call that nobody has said anything about. */
  readonly action: Action;
  /** Where that is set. */
  readonly source: string | undefined;
  readonly safeCommands: readonly string[];
  /** False: the operator wants neither rules nor defaults for this tool. */
  readonly isToolOn: boolean;
};

/** What holds where nobody has set anything, and the default action for what even that is silent about. */
export function defaultFindings(call: JudgedCall, facts: CallFacts, otherwise: Otherwise): Finding[] {
  const { action, source, isToolOn } = otherwise;
  const found = ofTool(call, facts, otherwise);
  const kept = isToolOn ? found : found.filter(({ kind }) => kind === "not_safe" && action !== "allow");
  // Where only safe commands go by themselves, that is the default action's word; without a sandbox asking is ours too.
  if (action === "allow" || (action === "ask" && !facts.contained)) return kept;
  return kept.map((finding) =>
    finding.kind === "not_safe"
      ? { ...finding, action, layer: "global", ...(source !== undefined && { source }) }
      : finding,
  );
}

function ofTool(call: JudgedCall, facts: CallFacts, { action, safeCommands }: Otherwise): Finding[] {
  const onlySafe = action !== "allow";
  const safe = { commands: safeCommands, onlySafe };
  switch (call.tool) {
    case "run_bash_command":
      return commandFindings(textOf(call, "command"), facts, safe);
    case "execute_code": {
      const { language = "python" } = call.arguments;
      const code = textOf(call, "code");
      if (language === "bash") return commandFindings(code, facts, safe);
      const found = codeFindings(code, language === "javascript" ? language : "python", facts);
      return onlySafe || !facts.contained ? [...found, notSafe(call, facts)] : found;
    }
    case "write_file":
    case "edit_file":
      return [...uploadFinding(call, facts), ...ofAny(call, facts, onlySafe)];
    case "install_packages":
      return [...packagesFinding(call), ...ofAny(call, facts, onlySafe)];
    case "remember":
      return [...lastingFinding(call, facts), ...ofAny(call, facts, onlySafe)];
    case "fetch_web":
    case "jina_reader":
    case "http_fetch":
      return [...webFinding(call, facts), ...ofAny(call, facts, onlySafe)];
    default:
      return ofAny(call, facts, onlySafe);
  }
}

/** They change nothing but the conversation they are called in. */
const ownBusiness: ReadonlySet<string> = new Set(["todo_write", "compact_context"]);

function ofAny(call: JudgedCall, facts: CallFacts, onlySafe: boolean): Finding[] {
  const secret = argumentTexts(call)
    .map(secretIn)
    .find((found) => found !== undefined);
  const isHarmless = call.class === "pure" || ownBusiness.has(call.tool);
  return [
    ...outwardFinding(call, facts),
    ...(secret === undefined ? [] : [{ ...byDefault, kind: "secret", risk: "high", what: shortened(secret) } as const]),
    ...(onlySafe && !isHarmless ? [notSafe(call, facts)] : []),
  ];
}

/**
 * What changes something elsewhere is looked at first. Whom a tool only asks was chosen by whoever registered it. Most
 * MCP servers say nothing of their tools, so these ask only once somebody else than the user may be who wants it.
 */
function outwardFinding({ tool, outward }: JudgedCall, { tainted }: CallFacts): Finding[] {
  if (outward === undefined || outward.isReading) return [];
  if (outward.by === "mcp_server" && !tainted) return [];
  const kind = outward.by === "mcp_server" ? "mcp" : "network";
  // Whoever allowed it always meant this host, and not one that the tool may lead to later.
  const what = shortened(`${tool} (${outward.host})`);
  return [{ ...byDefault, kind, risk: "medium", what, shape: `${what} *` }];
}

const byDefault = { action: "ask", layer: "default" } as const;

/** No file can be seen from here, so a new one in `uploads/` asks too: results belong into `outputs/`. */
function uploadFinding(call: JudgedCall, { root }: CallFacts): Finding[] {
  const path = textOf(call, "path");
  const inside = path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  const [, first] = posix.normalize(`/${inside.trim()}`).split("/");
  return first === "uploads" ? [{ ...byDefault, kind: "change_upload", risk: "medium", what: shortened(path) }] : [];
}

/** Code of strangers comes into the sandbox: a person decides, for this skill or for always. */
function packagesFinding(call: JudgedCall): Finding[] {
  const what = `${call.tool} ${textOf(call, "skill")}`;
  return [{ ...byDefault, kind: "packages", risk: "medium", what: shortened(what), shape: shortened(what) }];
}

/** What outsiders wrote must not reach every later conversation without a look at it. */
function lastingFinding({ tool, arguments: given }: JudgedCall, { tainted }: CallFacts): Finding[] {
  if (!tainted) return [];
  const fact = argumentTexts({ tool, arguments: given })[0] ?? "";
  return [{ ...byDefault, kind: "lasting", risk: "low", what: shortened(`${tool} ${fact}`), shape: `${tool} *` }];
}

/**
 * What may change something out there asks. Reading does not, but for an address that nobody else has named, once text
 * from outside was read: it could carry out what the agent knows, because that text wants it.
 */
function webFinding(call: JudgedCall, { tainted, addressNamed = false }: CallFacts): Finding[] {
  const method = textOf(call, "method") || "GET";
  const isReading = method === "GET" || method === "HEAD";
  // What is read must not leave in an address of the model's own, nor in the head of a request.
  const carriesNothing = addressNamed && (call.arguments.headers ?? "") === "";
  if (isReading && (!tainted || carriesNothing)) return [];
  const url = URL.parse(textOf(call, "url").trim());
  const place = url === null ? textOf(call, "url") : `${url.protocol}//${url.host}`;
  const path = url === null ? "" : ` ${url.pathname}${url.search}`;
  const raised = tainted && !isReading;
  return [
    {
      ...{ ...byDefault, kind: "network", risk: raised ? "high" : "medium" },
      ...(raised ? { raised } : {}),
      what: shortened(withoutSecrets(`${method} ${place}${path}`)),
      ...(url === null ? {} : { shape: `${method} ${place} *` }),
    },
  ];
}

function notSafe({ tool }: JudgedCall, { contained }: CallFacts): Finding {
  return { ...byDefault, kind: "not_safe", risk: contained ? "medium" : "high", what: tool, shape: `${tool} *` };
}
