import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { systemCodeOrThrow } from "../base/fault.ts";
import { parsedJson } from "../base/json.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { McpServerSettings } from "./settings.ts";

/** A tool as its server described it; what else stands there is passed over. */
export const ToolDefinition = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.unknown(),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
    })
    .optional(),
  /** What it takes cannot be read: nobody could call it. */
  isBroken: z.literal(true).optional(),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/** What was learned of a server when it was last spoken with. */
const Known = z.object({
  /** Of what the settings said of it then. */
  settings: z.string(),
  at: z.number(),
  generation: z.enum(["legacy", "modern"]),
  tools: z.array(ToolDefinition),
});
export type Known = z.infer<typeof Known>;

/** Where it is kept: a file in the data directory, which may be lost at any time. */
export type KnownPlace = {
  read(): Known | undefined;
  write(known: Omit<Known, "settings">): Promise<void>;
};

/**
 * The first prompt of a process must not wait for any server, so what they offer is kept from one start to the next. A
 * file for each: nothing else reads it, nothing is asked of it but all at once, and a backup can do without it.
 */
export function knownPlace(folder: string, server: McpServerSettings, owner: OwnerId | undefined): KnownPlace {
  const path = join(folder, `${server.id}${owner === undefined ? "" : `@${owner}`}.json`);
  const settings = hashOf(server);
  return {
    read() {
      const parsed = Known.safeParse(parsedJson(readText(path)));
      return parsed.success && parsed.data.settings === settings ? parsed.data : undefined;
    },
    async write(known) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        await writeFile(`${path}.new`, JSON.stringify({ settings, ...known }), { mode: 0o600 });
        await rename(`${path}.new`, path);
      } catch (error) {
        // A disk that is full or gone: it is looked up again after the next start.
        systemCodeOrThrow(error);
        await rm(`${path}.new`, { force: true });
      }
    },
  };
}

/** Another program, or another address, may have other tools. */
function hashOf({ reached }: McpServerSettings): string {
  const who = reached.by === "program" ? [reached.command, reached.args, reached.cwd] : [reached.url];
  return createHash("sha256").update(JSON.stringify(who)).digest("hex");
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    systemCodeOrThrow(error);
    return "";
  }
}
