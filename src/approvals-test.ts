import type { Writable } from "node:stream";
import { z } from "zod";
import { type CallFacts, loadCheckers, openApprovals } from "./approvals/approvals.ts";
import { systemClock } from "./base/clock.ts";
import { ok, type Result } from "./base/result.ts";
import { type Config, toolFiles } from "./config/config.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { localOwner } from "./protocol/ids.ts";
import { printVerdict, readJsonFile, refuse } from "./terminal/terminal.ts";
import { builtins, openCustomTools, openRegistry, type Toolkit } from "./tools/tools.ts";
import type { Words } from "./words/words.ts";

type Command = {
  readonly tool: string;
  readonly arguments: string;
  readonly facts?: string | undefined;
  readonly json: boolean;
};
type Parts = { readonly config: Config; readonly words: Words; readonly output: Writable; readonly errors: Writable };

/** `agentyard approvals test`: what the rules say of a call that nobody makes. Needs neither data nor a yard. */
export async function testApproval(command: Command, parts: Parts): Promise<number> {
  const { config, words } = parts;
  const toolkit = await ownTools(config);
  const asked = toolkit.meant({ id: "test", name: command.tool, arguments: command.arguments });
  const found = toolkit.open(asked);
  if (!found.ok) return refuse(found.failure, parts);
  const facts = await readFacts(command.facts, words);
  if (!facts.ok) return refuse(facts.failure, parts);
  const checkers = await loadCheckers(config.checkers);
  if (!checkers.ok) return refuse(checkers.failure, parts);
  const { tool, opened } = found.value;
  const approvals = openApprovals({ rules: config.approvals, checkers: checkers.value });
  const call = {
    tool: tool.name,
    class: tool.class,
    arguments: opened.input,
    written: asked.arguments,
    own: opened.ask?.kind === "approval" ? opened.ask : undefined,
  };
  return printVerdict(approvals.judge(call, facts.value, []), { ...parts, json: command.json });
}

/** Ours, and those of the operator's own files. Servers of others are not asked. */
async function ownTools(config: Config): Promise<Toolkit> {
  const custom = openCustomTools({ list: () => toolFiles(config), clock: systemClock, onBroken: () => {} });
  await custom.refresh();
  const sources = [{ origin: "custom" as const, source: custom }];
  return openRegistry({ builtins, sources, settings: config.tools, onLeftOut: () => {} }).kitOf(localOwner);
}

/** What is true in the usual case: a sandbox, no network, and nothing read from outside. */
const usual: CallFacts = { contained: true, network: false, tainted: false, root: "/workspace/x", scripts: new Map() };

const Given = z.strictObject({
  contained: z.boolean().optional(),
  network: z.boolean().optional(),
  tainted: z.boolean().optional(),
});

async function readFacts(path: string | undefined, words: Words): Promise<Result<CallFacts, Failure>> {
  if (path === undefined) return ok(usual);
  const given = await readJsonFile(path, Given, words);
  if (!given.ok) {
    const what = words.terminal.approvals.usage.factsUnfit({ file: path, why: given.failure });
    return failure("usage", { what, command: "approvals" });
  }
  const { contained = usual.contained, network = usual.network, tainted = usual.tainted } = given.value;
  return ok({ ...usual, contained, network, tainted });
}
