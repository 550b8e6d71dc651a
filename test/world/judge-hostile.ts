import { openApprovals } from "../../src/approvals/approvals.ts";
import { defaultRules } from "../../src/approvals/rules.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { callOf, inSandbox } from "./judging.ts";

/** Judges the hostile texts of one language in a process of its own, whose memory is bounded, and tells which it has judged. */
const language = (["python", "javascript"] as const).find((one) => one === process.argv[2]) ?? "bash";
const approvals = openApprovals({ rules: defaultRules, checkers: [] });
const charactersMost = Number(process.env.AGENTYARD_HOSTILE_CHARACTERS);

/** By lines where it has some; the last one stays, for there may be the call of what stands before it. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const [end, last] = [text.lastIndexOf("\n", charactersMax), text.slice(text.lastIndexOf("\n") + 1)];
  return end === -1 ? text.slice(0, charactersMax) : `${text.slice(0, end + 1)}${last.slice(0, charactersMax)}`;
}

for (const [what, text] of Object.entries(hostileTexts[language])) {
  approvals.judge(callOf("execute_code", { code: cut(text(), charactersMost), language }), inSandbox, []);
  process.stdout.write(`${what}\n`);
}
