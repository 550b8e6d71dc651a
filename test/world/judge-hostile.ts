import { openApprovals } from "../../src/approvals/approvals.ts";
import { defaultRules } from "../../src/approvals/rules.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { callOf, inSandbox } from "./judging.ts";

/** Judges the hostile texts of one language in a process of its own, whose memory is bounded, and tells what each has cost. */
const language = (["python", "javascript"] as const).find((one) => one === process.argv[2]) ?? "bash";
const approvals = openApprovals({ rules: defaultRules, checkers: [] });
/** Whole in `npm run torture`. */
const charactersMost = Number(process.env.AGENTYARD_HOSTILE_CHARACTERS ?? 16_000);

/** By lines where it has some; the last one stays, for there may be the call of what stands before it. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const [end, last] = [text.lastIndexOf("\n", charactersMax), text.slice(text.lastIndexOf("\n") + 1)];
  return end === -1 ? text.slice(0, charactersMax) : `${text.slice(0, end + 1)}${last.slice(0, charactersMax)}`;
}

// The first time round pays for the loading and for the compiler.
for (const charactersMax of [2_000, charactersMost]) {
  for (const [what, text] of Object.entries(hostileTexts[language])) {
    const code = cut(text(), charactersMax);
    const from = process.cpuUsage();
    const { findings } = approvals.judge(callOf("execute_code", { code, language }), inSandbox, []);
    const kinds = new Set(findings.map(({ kind }) => kind));
    const { user, system } = process.cpuUsage(from);
    const cpuMs = Math.round((user + system) / 1000);
    if (charactersMax > 2_000) process.stdout.write(`${JSON.stringify({ what, kinds: [...kinds], cpuMs })}\n`);
  }
}
