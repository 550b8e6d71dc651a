import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import {
  type CallFacts,
  type JudgedCall,
  loadCheckers,
  openApprovals,
  type Verdict,
} from "../../src/approvals/approvals.ts";
import { type Config, type ConfigRequest, loadConfig, reloadConfig } from "../../src/config/config.ts";
import { failureWords, wordsFor } from "../../src/words/words.ts";

/** What is true in a sandbox without a network. */
export const inSandbox: CallFacts = {
  ...{ contained: true, network: false, tainted: false, root: "/workspace/x" },
  scripts: new Map(),
};

export function callOf(
  tool: string,
  given: Readonly<Record<string, unknown>>,
  more: Partial<JudgedCall> = {},
): JudgedCall {
  return { tool, arguments: given, written: JSON.stringify(given), ...more };
}

export const bash = (command: string) => callOf("run_bash_command", { command });

/** A folder with the files of an operator, and the program's answers there. */
export function operatorFolder(t: TestContext, { isClone = true }: { isClone?: boolean } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-rules-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  };
  write("package.json", JSON.stringify({ name: isClone ? "agentyard" : "project", type: "module" }));
  const request = (env: Record<string, string> = {}): ConfigRequest => ({
    ...{ flags: {}, env, cwd: dir, homeDir: join(dir, "me"), programDir: dir },
  });
  const load = async (env?: Record<string, string>): Promise<Config> => {
    const loaded = await loadConfig(request(env));
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.failure));
    return loaded.value;
  };
  return {
    dir,
    write,
    /** The project's `hitl_rules.yaml`. */
    rules: (yaml: string) => write("config/hitl_rules.yaml", yaml),
    usersRules: (yaml: string) => write("me/.config/agentyard/hitl_rules.yaml", yaml),
    load,
    reload: (config: Config) => reloadConfig(config, request()),
    async judge(call: JudgedCall, facts: Partial<CallFacts> = {}): Promise<Verdict> {
      const config = await load();
      const checkers = await loadCheckers(config.checkers);
      if (!checkers.ok) throw new Error(JSON.stringify(checkers.failure));
      const approvals = openApprovals({ rules: config.approvals, checkers: checkers.value });
      return approvals.judge(call, { ...inSandbox, ...facts }, []);
    },
    async mistakes(env?: Record<string, string>): Promise<string[]> {
      const loaded = await loadConfig(request(env));
      if (loaded.ok) return [];
      return loaded.failure.map((failure) => failureWords(wordsFor("en"), failure).join(" "));
    },
  };
}
