import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type Config, type ConfigRequest, loadConfig } from "../../src/config/config.ts";
import { failureWords, type Language, wordsFor } from "../../src/words/words.ts";

/** A folder with files of settings, and what is read from them. */
export function makePlace(t: TestContext, { isClone = true } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-config-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const request: ConfigRequest = { flags: {}, env: {}, cwd: dir, homeDir: join(dir, "me"), programDir: dir };
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  };
  write("package.json", JSON.stringify({ name: isClone ? "agentyard" : "project" }));
  return {
    dir,
    request,
    write,
    async load(changes: Partial<ConfigRequest> = {}): Promise<Config> {
      const loaded = await loadConfig({ ...request, ...changes });
      assert.ok(loaded.ok, JSON.stringify(loaded));
      return loaded.value;
    },
    /** What a person reads. */
    async mistakes(changes: Partial<ConfigRequest> = {}): Promise<string[]> {
      const loaded = await loadConfig({ ...request, ...changes });
      const language: Language = changes.env?.LANG?.startsWith("zh") ? "zh" : "en";
      return loaded.ok ? [] : loaded.failure.map((failure) => failureWords(wordsFor(language), failure).join(" "));
    },
  };
}
