import { z } from "zod";
import type { AgentRole } from "../../protocol/agent.ts";
import { routes } from "../../protocol/routes.ts";
import { describeApi } from "../openapi.ts";

const Described = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

/** How callers chat with one agent: our OpenAPI document with that one path. */
export function describeAgentChat({ name, description }: AgentRole, version: string): Record<string, unknown> {
  const { paths, tags: _, ...document } = Described.parse(describeApi({ version }));
  const path = routes.apiChatCompletion.path.replace("{service}", "agent-factory");
  return { ...document, info: { title: name, description, version }, paths: { [path]: paths[path] } };
}
