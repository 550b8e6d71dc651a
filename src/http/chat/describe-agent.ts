import { z } from "zod";
import type { AgentRole } from "../../protocol/agent.ts";
import { routes } from "../../protocol/routes.ts";
import { describeApi } from "../openapi.ts";

const Described = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

/** How callers chat with one agent: our OpenAPI document with that one path. */
export function openAgentDescriptions(version: string): (role: AgentRole) => Record<string, unknown> {
  // To describe all routes takes a tenth of a second: once is enough.
  let described: z.infer<typeof Described> | undefined;
  return ({ name, description }) => {
    described ??= Described.parse(describeApi({ version }));
    const { paths, tags: _, ...document } = described;
    const path = routes.apiChatCompletion.path.replace("{service}", "agent-factory");
    return { ...document, info: { title: name, description, version }, paths: { [path]: paths[path] } };
  };
}
