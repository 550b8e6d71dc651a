import { Slot } from "../protocol/message.ts";
import { choice } from "./first-kinds.ts";
import { nameLike, text } from "./kinds.ts";
import { type KnownTools, toolNamed } from "./known-tools.ts";
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
  skills?: readonly string[] | undefined;
  slot?: Slot | undefined;
};

/** One `agents.yaml`, checked. */
export function readAgentsFile(entries: readonly Entry[], walker: Walker, tools: KnownTools): AgentEntry[] {
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
const idKind = nameLike(isId, "reviewer");

function readAgent(entry: Entry, name: string, walker: Walker, tools: KnownTools): AgentEntry | undefined {
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
    skills: (inside, key) => {
      agent.skills = walker.list(inside, key, "tables")?.flatMap((item) => value(item, key, text)?.value ?? []);
    },
    slot: (inside, key) => {
      agent.slot = value(inside, key, slot)?.value;
    },
  });
  return agent;
}

const slot = choice(Slot.options);

function readTools(entry: Entry, name: string, walker: Walker, tools: KnownTools): readonly string[] | undefined {
  return walker.list(entry, name, "read_file")?.flatMap((item) => {
    const word = walker.value(item, name, text)?.value;
    return (word === undefined ? undefined : toolNamed(item, word, walker, tools))?.name ?? [];
  });
}
