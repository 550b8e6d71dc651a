import type { Words } from "../words/words.ts";

const briefCharacters = 40;

/** What people call an agent. A worker has only an id: what it is to do says more. */
export function agentName(
  agent: { readonly id: string; readonly mode: string; readonly name: string; readonly brief: string } | undefined,
  id: string,
  words: Words["team"],
): string {
  if (id === "root") return words.main;
  if (agent === undefined) return id;
  if (agent.mode !== "worker") return agent.name;
  const brief = firstLine(agent.brief);
  if (brief === "") return words.worker;
  return words.workerAt({ brief: brief.length > briefCharacters ? `${brief.slice(0, briefCharacters)}…` : brief });
}

export function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "") ?? "";
}
