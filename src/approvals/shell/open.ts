import type { Finding, FindingKind } from "../../protocol/approval.ts";
import type { CallFacts } from "../approvals.ts";
import { readCode } from "../code/programs.ts";
import { runCall } from "./calls.ts";
import { masked } from "./judge-secrets.ts";
import { readShell, runScript } from "./nodes.ts";
import { fork, type Run, risks, type Safe, type Scene, type State, shortened } from "./scene.ts";

/** A place to judge one call in: what is known at its start, and the readers that it goes through. */
export function openScene(facts: CallFacts, safe: Safe): { readonly scene: Scene; readonly run: Run } {
  const scene: Scene = {
    facts,
    safe,
    files: new Map(),
    open: new Map(),
    links: new Map(),
    made: new Set(["uploads", "outputs", "temp"].map((folder) => `${facts.root}/${folder}`)),
    scripts: new Set(),
    findings: [],
    secrets: new Set(),
    active: new Set(),
    again: new Map(),
    traps: [],
    imported: new Set(),
    spent: 0,
    steps: 0,
    words: 0,
    depth: 0,
    wrapped: 0,
    shell: readShell,
    substitute: (script, run) => runScript(script, { ...run, state: fork(run.state) }),
    code: readCode,
    call: runCall,
  };
  const state: State = {
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    folders: [facts.root],
    failed: [],
    parameters: undefined,
    modules: [],
    endsOnFailure: false,
  };
  return { scene, run: { scene, state, source: "", stdin: undefined } };
}

/** Reads the command of a call to its end, with what is run then. */
export function readCommand(command: string, run: Run): void {
  run.scene.shell(unfenced(command), run);
  for (const trap of run.scene.traps.slice(0, trapsMax)) run.scene.shell(trap.text, trap.run);
}

const trapsMax = 32;

/** Findings about what leaves the machine or cannot be brought back. */
const grave: readonly FindingKind[] = [
  ...(["delete", "change_upload", "database", "network", "packages", "secret", "credentials", "run_unseen"] as const),
];

/** After text from outside was read, these may be its wish and not the user's: one level higher. */
export function settled(scene: Scene): Finding[] {
  const told = new Map<string, Finding>();
  for (const found of scene.findings) {
    const what = shortened(masked(scene, found.what));
    const key = `${found.kind} ${what}`;
    const before = told.get(key);
    const isHigher = before === undefined || risks.indexOf(found.risk) > risks.indexOf(before.risk);
    if (isHigher) told.set(key, { ...found, what });
  }
  return [...told.values()].map((finding) => {
    const higher = risks[risks.indexOf(finding.risk) + 1] ?? finding.risk;
    return scene.facts.tainted && grave.includes(finding.kind) ? { ...finding, risk: higher, raised: true } : finding;
  });
}

/** A text that came as a block of Markdown, as the tools run it. */
export function unfenced(text: string): string {
  return /^\s*```[^\n`]*\n(?<inside>.*?)\n?```\s*$/s.exec(text)?.groups?.inside ?? text;
}
