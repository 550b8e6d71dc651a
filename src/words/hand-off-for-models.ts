type Agent = {
  readonly name: string;
  readonly description: string;
  readonly skills?: readonly string[] | undefined;
};

const sentence = (text: string) => (text === "" || /[.。!?]$/.test(text) ? text : `${text}.`);
const skillsOf = ({ skills = [] }: Agent) => (skills.length === 0 ? "" : ` Skills: ${skills.join(", ")}.`);

/** What models read about handing over to another agent. */
export const handOffForModels = {
  tool: (agent: Agent) =>
    `Hand the user over to the agent ${agent.name}. ${sentence(agent.description)}${skillsOf(agent)} Use it when the user asks for that agent, or the work is plainly its own; you stop, it answers the user, and you are back with the user's next message. It sees the conversation so far. Not for work that you can do yourself.`.replaceAll(
      /\s+/g,
      " ",
    ),
  task: "What it is to do: the goal, how far it is, the files, and what the user said last.",
  /** In the system message. */
  catalogue: (lines: readonly string[]) => `# Agents\nOthers whom you can hand the user over to:\n${lines.join("\n")}`,
  entry: (tool: string, agent: Agent) => `- ${agent.name} (${tool}): ${sentence(agent.description)}${skillsOf(agent)}`,
  done: (name: string) => `✓ Transferred to ${name}`,
  /** The first message that the other one reads. */
  brief: (task: string) =>
    `${task}\n\n(You were handed this by another agent; the conversation so far is above. Answer the user.)`,
  named: (name: string, description: string, tool: string | undefined) =>
    `The user named the agent ${name}${description === "" ? "" : ` (${description})`}${tool === undefined ? "" : `: hand over to it with ${tool}`}.`,
};
