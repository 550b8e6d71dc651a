import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { Block } from "../../src/extract/extracted.ts";
import { openSearch, type Pointer, type Search, type SearchOptions } from "../../src/search/search.ts";

export type SearchPlace = {
  readonly search: Search;
  readonly file: string;
  /** Another one on the same file, after the first was closed. */
  again(options?: Pick<SearchOptions, "segmentation" | "meaning">): Promise<Search>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** An index in a folder of its own. */
export function searchPlace(
  options: Partial<Pick<SearchOptions, "clock" | "segmentation" | "meaning">> = {},
): SearchPlace {
  const { clock = systemClock } = options;
  const folder = mkdtempSync(join(tmpdir(), "agentyard-search-"));
  const file = join(folder, "data", "search.db");
  const open = ({ segmentation, meaning }: Pick<SearchOptions, "segmentation" | "meaning">) => {
    const opened = openSearch({ file, clock, segmentation, meaning });
    assert.ok(opened.ok);
    return opened.value;
  };
  let current = open(options);
  return {
    search: current,
    file,
    async again(given = {}) {
      await current.close();
      current = open({ ...options, ...given });
      return current;
    },
    async [Symbol.asyncDispose]() {
      await current.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `# Heading`, `## Heading below`, and paragraphs; a line of its own begins a page with `--- 4`. */
export function blocksOf(text: string): Block[] {
  let page = 1;
  return text.split("\n\n").flatMap((part): Block[] => {
    const turned = /^--- (\d+)$/.exec(part.trim());
    if (turned !== null) {
      page = Number(turned[1]);
      return [];
    }
    const [, marks, heading = ""] = /^(#+) (.*)$/s.exec(part) ?? [];
    if (marks !== undefined) return [{ kind: "heading", level: marks.length, text: heading, from: { page } }];
    return part.trim() === "" ? [] : [{ kind: "paragraph", text: part, from: { page } }];
  });
}

export async function putText(search: Search, pointer: Pointer, text: string, key = text): Promise<void> {
  const put = await search.put(pointer, key, { blocks: blocksOf(text) });
  assert.ok(put.ok, JSON.stringify(put));
}

export function file(owner: string, place: string): Pointer {
  return { owner, kind: "file", place };
}

/** What is found, as places and snippets. */
export async function found(search: Search, query: string, scope: Parameters<Search["find"]>[1]): Promise<string[]> {
  const answer = await search.find(query, scope);
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.value.hits.flatMap(({ documents }) => documents.map(({ place }) => place));
}
