import { nearest } from "../base/nearest.ts";
import { Slot } from "../protocol/message.ts";
import { choice, type Kind, text } from "./kinds.ts";
import type { Take, Walker } from "./walker.ts";
import type { Entry } from "./yaml-tree.ts";

/** One agent as a file has it; what it does not say is undefined. */
export type AgentEntry = {
  readonly id: string;
  readonly entry: Entry;
  name?: string | undefined;
  description?: string | undefined;
  prompt?: string | undefined;
  tools?: readonly string[] | undefined;
  slot?: Slot | undefined;
};

/** One `agents.yaml`, checked. `tools`: the name of a tool by every word it goes by. */
export function readAgentsFile(
  entries: readonly Entry[],
  walker: Walker,
  tools: ReadonlyMap<string, string>,
): AgentEntry[] {
  const agents: AgentEntry[] = [];
  walker.entries(entries, "", {
    agents: (all, name) =>
      walker.named(all, name, "reviewer", (entry, key) => {
        const agent = readAgent(entry, key, walker, tools);
        if (agent !== undefined) agents.push(agent);
      }),
  });
  return agents;
}

/** It travels in paths and as the name of a model. */
const isId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const idKind: Kind<string> = {
  expected: { form: "name", example: "reviewer" },
  parse: (value) => (typeof value === "string" && isId.test(value) ? value : undefined),
};

function readAgent(
  entry: Entry,
  name: string,
  walker: Walker,
  tools: ReadonlyMap<string, string>,
): AgentEntry | undefined {
  const { value, problems, placeOf } = walker;
  const { key: id } = entry;
  if (!isId.test(id)) {
    const setting = { variables: [], kind: idKind };
    problems.push({ fault: "value", name: "agents", value: id, setting, place: placeOf(entry) });
    return undefined;
  }
  const agent: AgentEntry = { id, entry };
  const take =
    (field: "name" | "description" | "prompt"): Take =>
    (inside, key) => {
      agent[field] = value(inside, key, text)?.value;
    };
  walker.group(entry, name, {
    ...{ name: take("name"), description: take("description"), prompt: take("prompt") },
    tools: (inside, key) => {
      agent.tools = readTools(inside, key, walker, tools);
    },
    slot: (inside, key) => {
      agent.slot = value(inside, key, slot)?.value;
    },
  });
  return agent;
}

const slot = choice(Slot.options);

function readTools(
  entry: Entry,
  name: string,
  { list, value, problems, placeOf }: Walker,
  tools: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  return list(entry, name, "read_file")?.flatMap((item) => {
    const word = value(item, name, text)?.value;
    const known = word === undefined ? undefined : tools.get(word);
    if (word !== undefined && known === undefined) {
      const near = nearest(word, tools.keys(), 1)[0] ?? "";
      problems.push({ fault: "unknown_tool", name: word, near, place: placeOf(item) });
    }
    return known ?? [];
  });
}
