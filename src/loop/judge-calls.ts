import { argumentsHash, type CallFacts, type JudgedCall, unreadScript, type Verdict } from "../approvals/approvals.ts";
import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { AllowRule } from "../protocol/approval.ts";
import type { Failure } from "../protocol/failure.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { OpenedCall, Tool, Toolkit } from "../tools/tools.ts";
import { noWorkspace, type Workspace } from "../workspace/workspace.ts";
import { isNamedAddress, isOfWeb, wasBroughtUp } from "./named-addresses.ts";
import type { Parts } from "./parts.ts";
import { readRules } from "./rules.ts";

/** A call with its tool, and what the rules say of it where it would run. */
export type Judged = {
  readonly tool: Tool;
  readonly opened: OpenedCall;
  readonly verdict: Verdict;
  /** Hash of the texts of all scripts that it runs; undefined where there are none. */
  readonly scripts: string | undefined;
};

export type JudgedPlace = {
  readonly conversation: ConversationRow;
  /** Who calls; undefined is the main agent. */
  readonly agent?: string | undefined;
  /** What the agent has that calls. */
  readonly toolkit: Toolkit;
  /** What the agent reads, and whether it has read text from outside. */
  readonly history: Pick<History, "messages" | "isTainted">;
  /** What people said to the main agent. */
  readonly said: History["said"];
};

/** What judging takes. */
type JudgeParts = Pick<Parts, "approvals" | "reachesNetwork" | "log" | "storage" | "logger"> & {
  readonly workspaces: Pick<Parts["workspaces"], "ofAgent">;
};

/** Asks the rules about one call. `always`: what counts as allowed besides what is stored. */
export async function judgeCall(
  parts: JudgeParts,
  place: JudgedPlace,
  call: ToolCall,
  always: readonly AllowRule[] = [],
): Promise<Result<Judged & { readonly hasScripts: boolean }, Failure>> {
  const { conversation, agent, toolkit, history } = place;
  const found = toolkit.open(call);
  if (!found.ok) return found;
  const { tool, opened } = found.value;
  const { input = {} } = opened; // A tool of somebody else's need not keep to our types.
  const own = opened.ask?.kind === "approval" ? { reason: opened.ask.reason, risk: opened.ask.risk } : undefined;
  const { outward } = tool;
  const judged = { tool: tool.name, class: tool.class, outward, arguments: input, written: call.arguments, own };
  const files = await parts.workspaces.ofAgent(conversation, agent);
  const workspace = files.ok ? files.value : noWorkspace(conversation.id, files.failure);
  const root = rootOf(workspace);
  const read = await readScripts(workspace, (scripts) => parts.approvals.scriptsOf(judged, { root, scripts }));
  const facts: CallFacts = {
    // Where the walls cannot be had no program runs at all: nobody need be asked about what does not happen.
    contained: true,
    network: parts.reachesNetwork(),
    tainted: history.isTainted,
    addressNamed: await isNamed(parts, place, judged),
    root,
    scripts: read.texts,
  };
  const alone = parts.approvals.judge(judged, facts, []);
  // Most calls need nobody: what was allowed always is read only for those that do.
  const stored = alone.verdict === "ask" ? [...always, ...(await readRules(parts, conversation))] : [];
  const verdict = stored.length === 0 ? alone : parts.approvals.judge(judged, facts, stored);
  return ok({ tool, opened, verdict, scripts: read.hash, hasScripts: read.hasScripts });
}

/** The log is read only where somebody would be asked otherwise. */
async function isNamed(
  { log }: JudgeParts,
  { conversation, history: { messages, isTainted }, said }: JudgedPlace,
  { tool, arguments: given }: JudgedCall,
): Promise<boolean> {
  if (isNamedAddress({ said, messages }, given)) return true;
  if (!isTainted || !isOfWeb(tool)) return false;
  return wasBroughtUp(await log.effective(conversation.number, Number.MAX_SAFE_INTEGER), given);
}

/** As programs see the files. */
function rootOf({ id }: Workspace): string {
  return `/workspace/${id}`;
}

const scriptsMax = 32;
const scriptBytesMax = 256 * 1024;
/** Scripts that run scripts that run scripts. */
const roundsMax = 8;
/** Most are looked for in vain: an `import` may mean a file of the workspace. */
const lookedMax = 400;

type ReadScripts = {
  /** By the path that the call names them with. One that is there and cannot be read to its end is `unreadScript`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly hash: string | undefined;
  readonly hasScripts: boolean;
};

/** What a call would run, and what that would run, as far as it is in the workspace. */
async function readScripts(
  workspace: Workspace,
  scriptsOf: (known: ReadonlyMap<string, string>) => readonly string[],
): Promise<ReadScripts> {
  const texts = new Map<string, string>();
  const hashes: string[] = [];
  const looked = new Set<string>();
  for (let round = 0; round <= roundsMax; round += 1) {
    const paths = scriptsOf(texts).filter((path) => !looked.has(path));
    if (paths.length === 0) break;
    for (const path of paths) {
      looked.add(path);
      const bytesMax = round === roundsMax || texts.size >= scriptsMax ? 0 : scriptBytesMax;
      const found = looked.size > lookedMax ? unread : await readScript(workspace, path, bytesMax);
      if (found === undefined) continue;
      texts.set(path, found.text);
      hashes.push(JSON.stringify([path, found.hash]));
    }
  }
  const hash = hashes.length === 0 ? undefined : argumentsHash(hashes.toSorted().join("\n"));
  return { texts, hash, hasScripts: looked.size > 0 };
}

const unread = { text: unreadScript, hash: "" };

/** Undefined where it is not there: then running it fails. Other places than the workspace cannot be looked at. */
async function readScript(
  workspace: Workspace,
  path: string,
  bytesMax: number,
): Promise<{ readonly text: string; readonly hash: string } | undefined> {
  const root = `${rootOf(workspace)}/`;
  const inside = path.startsWith(root) ? path.slice(root.length) : path;
  if (/^(\/|\.\.(\/|$))/.test(inside)) return undefined;
  // One byte more tells that it goes on: a beginning does not pass for the whole.
  const content = await workspace.read(inside, { bytesMax: bytesMax + 1 });
  if (!content.ok && isAbsent.has(content.failure.code)) return undefined;
  if (content.ok && content.value.bytes.length <= bytesMax) {
    const text = content.value.bytes.toString("utf8");
    return { text, hash: argumentsHash(text) };
  }
  const hash = await workspace.hash(inside);
  return { text: unreadScript, hash: hash.ok ? hash.value : "" };
}

const isAbsent: ReadonlySet<string> = new Set(["file_not_found", "not_a_folder", "workspace_not_assigned"]);
