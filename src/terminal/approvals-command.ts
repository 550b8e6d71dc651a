import type { Writable } from "node:stream";
import type { Client, ClientFailure } from "../client/client.ts";
import type { Finding, Layer, Risk } from "../protocol/approval.ts";
import { findingWords, type Words } from "../words/words.ts";
import type { ApprovalsCommand } from "./approvals-line.ts";
import { exitCodes, exitReasonOf } from "./exit-codes.ts";
import { commandFailureText } from "./failure-text.ts";
import { jsonLine } from "./format.ts";
import { inboxLines } from "./inbox-lines.ts";
import { ruleLine } from "./rule-text.ts";
import { safeLine } from "./safe-text.ts";

type Parts = {
  readonly client: Client;
  readonly words: Words;
  readonly output: Writable;
  readonly errors: Writable;
};

/** `agentyard approvals list`, `rules` and `revoke`: through the same door as everybody. */
export async function approvals(command: Exclude<ApprovalsCommand, { action: "test" }>, parts: Parts): Promise<number> {
  switch (command.action) {
    case "list":
      return listDecisions(parts, command.json);
    case "rules":
      return listRules(parts, command.json);
    case "revoke": {
      const revoked = await parts.client.call("revokeRule", { params: { rule: command.rule } });
      if (!revoked.ok) return refuse(revoked.failure, parts);
      const { rule: id } = command;
      const said = parts.words.terminal.decision.rule.revoked({ id: safeLine(id, idCellsMax) });
      parts.output.write(command.json ? jsonLine({ revoked: id }) : `${said}\n`);
      return exitCodes.done;
    }
  }
}

const idCellsMax = 40;
const shownCellsMax = 200;

async function listDecisions({ client, words, output, errors }: Parts, json: boolean): Promise<number> {
  const listed = await client.call("listDecisions");
  if (!listed.ok) return refuse(listed.failure, { words, errors });
  const { items } = listed.value;
  const { decision: texts, approvals: own } = words.terminal;
  if (json) output.write(jsonLine({ items }));
  else if (items.length === 0) output.write(`${texts.inboxEmpty()}\n`);
  else {
    const lines = await inboxLines(items, { client, words });
    output.write(`${[...lines, own.listHint()].join("\n")}\n`);
  }
  return exitCodes.done;
}

async function listRules({ client, words, output, errors }: Parts, json: boolean): Promise<number> {
  const listed = await client.call("listRules", { query: {} });
  if (!listed.ok) return refuse(listed.failure, { words, errors });
  const { items } = listed.value;
  const { approvals: texts } = words.terminal;
  if (json) output.write(jsonLine({ items }));
  else if (items.length === 0) output.write(`${words.terminal.decision.rule.none()}\n`);
  else output.write(`${[...items.map((rule) => ruleLine(rule, words)), texts.rulesHint()].join("\n")}\n`);
  return exitCodes.done;
}

/** What the rules say of a call. */
type Judged = {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  readonly layer: Layer | "always";
  readonly reason: string;
  readonly findings: readonly Finding[];
};

/** `agentyard approvals test`. The verdict is an answer, so it does not change the exit code. */
export function printVerdict(
  { verdict, risk, layer, reason, findings }: Judged,
  { output, words, json }: { readonly output: Writable; readonly words: Words; readonly json: boolean },
): number {
  const { approvals: texts, decision, gap } = words.terminal;
  const reasons = findings.map((finding) => {
    const source = finding.source === undefined ? "" : gap + texts.source({ source: finding.source });
    return texts.reason({ reason: safeLine(findingWords(words, finding) + source, shownCellsMax) });
  });
  const lines = [
    texts.verdict[verdict],
    texts.risk({ risk: decision.riskLevel[risk] }),
    texts.saidBy({ layer: texts.layer[layer] }),
    ...(reasons.length > 0 ? reasons : [texts.reason({ reason: layer === "default" ? texts.nothing : reason })]),
  ];
  output.write(json ? jsonLine({ verdict, risk, layer, reason, findings }) : `${lines.join("\n")}\n`);
  return exitCodes.done;
}

function refuse(failure: ClientFailure, { words, errors }: Pick<Parts, "words" | "errors">): number {
  errors.write(`✗ ${commandFailureText(words, failure)}\n`);
  return exitCodes[exitReasonOf(failure.code)];
}
