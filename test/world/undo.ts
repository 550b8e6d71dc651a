import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ok, type Result } from "../../src/base/result.ts";
import { fileChanged } from "../../src/protocol/events.ts";
import type { Failure } from "../../src/protocol/failure.ts";
import type { UndoReport } from "../../src/protocol/resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool, type ToolOutput } from "../../src/tools/tools.ts";
import type { FileChange } from "../../src/workspace/workspace.ts";
import { must, type TestYard } from "./yard.ts";

type Asked = [name: string, input: object];
export const writes = (path: string, content: string): Asked => ["write_file", { path, content }];
export const edits = (path: string, from: string, to: string): Asked => [
  "edit_file",
  { path, old_string: from, new_string: to },
];
export const puts = (path: string, content: string): Asked => ["put", { path, content }];
export const drops = (path: string): Asked => ["drop", { path }];

/** A program, as Node runs it in the folder of the conversation. */
export const runs = (code: string): Asked => ["run", { code }];

/** Writes without having looked, and deletes; and a program without a sandbox around it. */
export const roughTools = [
  defineTool({
    name: "put",
    description: "Writes a file. For tests.",
    class: "idempotent",
    input: z.object({ path: z.string(), content: z.string() }),
    order: ({ path }) => path,
    run: async ({ path, content }, { workspace, key, call }) =>
      noted(call, await workspace.write(path, content, { key })),
  }),
  defineTool({
    name: "drop",
    description: "Deletes a file. For tests.",
    class: "idempotent",
    input: z.object({ path: z.string() }),
    order: ({ path }) => path,
    run: async ({ path }, { workspace, key, call }) => noted(call, await workspace.remove(path, { key })),
  }),
  defineTool({
    name: "run",
    description: "Runs a program. For tests.",
    class: "unsafe",
    input: z.object({ code: z.string() }),
    run: async ({ code }, { workspace, call }) => {
      const [folder, observation] = [await workspace.guestFolder(), await workspace.observe()];
      if (!folder.ok) return folder;
      if (!observation.ok) return observation;
      execFileSync(process.execPath, ["-e", code], { cwd: folder.value.folder });
      const changes = await observation.value.changes();
      if (!changes.ok) return changes;
      return ok({ text: "done", events: changes.value.map((change) => fileChanged(change, { by: "tool", call })) });
    },
  }),
];

/** The result of a tool that changed a file, with its line for the ledger. */
export function noted(
  call: string,
  done: Result<FileChange, Failure>,
  where: { readonly workspace?: string } = {},
): Result<ToolOutput, Failure> {
  if (!done.ok) return done;
  return ok({ text: "done", events: [fileChanged(done.value, { by: "tool", call, ...where })] });
}

export async function newConversation(yard: TestYard): Promise<string> {
  return (await must(yard.client.call("createConversation", { body: {} }))).id;
}

export async function undo(yard: TestYard, id: string): Promise<UndoReport> {
  return must(yard.client.call("undoTurn", { params: { id } }));
}

/** As if it had been there from the beginning, or somebody had changed it from outside. */
export function place(
  { data }: TestYard,
  conversation: string,
  name: string,
  content: string | Buffer,
  mode = 0o644,
): void {
  const path = join(data, "workspace", conversation, "outputs", name);
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** Every file of a folder with its mode and bytes. */
export function filesOf({ data }: TestYard, conversation: string, folder = "outputs"): Record<string, string> {
  const root = join(data, "workspace", conversation, folder);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    paths.map((path) => {
      const mode = (statSync(path).mode & 0o777).toString(8);
      return [path.slice(root.length + 1), `${mode} ${readFileSync(path, "latin1")}`];
    }),
  );
}

/** The first append of a `rewound` meets this; what it answers with, if anything, is the append's answer. */
export function rewindsMeet(meet: () => Promise<Awaited<ReturnType<Storage["append"]>> | undefined>) {
  let isFirst = true;
  return (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isMet = isFirst && batch.events.some(({ type }) => type === "rewound");
      if (isMet) isFirst = false;
      return (isMet ? await meet() : undefined) ?? storage.append(batch);
    },
  });
}
