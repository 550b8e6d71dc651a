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
    `Hand over to the agent ${agent.name}. ${sentence(agent.description)}${skillsOf(agent)} Use it when the user asks for that agent, or the work is plainly its own; you stop, it answers in your place, and you are back with the next message. It sees the conversation so far. Not for work that you can do yourself.`.replaceAll(
      /\s+/g,
      " ",
    ),
  task: "What it is to do: the goal, how far it is, the files, and what the user said last.",
  /** In the system message. */
  catalogue: (lines: readonly string[], isTask: boolean) =>
    `# Agents\nOthers whom you can hand ${isTask ? "your task" : "the user"} over to:\n${lines.join("\n")}`,
  entry: (tool: string, agent: Agent) => `- ${agent.name} (${tool}): ${sentence(agent.description)}${skillsOf(agent)}`,
  done: (name: string) => `✓ Transferred to ${name}`,
  /** The first message that the other one reads. */
  brief: (task: string, isTask: boolean) =>
    `${task}\n\n(You were handed this by another agent; the conversation so far is above. Answer ${isTask ? "in its place" : "the user"}.)`,
  named: (
    name: string,
    description: string,
    { transfer, call }: { transfer: string | undefined; call: string | undefined },
  ) => {
    const ways = [
      ...(transfer === undefined ? [] : [`hand over to it with ${transfer}`]),
      ...(call === undefined ? [] : [`have it do a part with ${call}`]),
    ].join(", or ");
    return `The user named the agent ${name}${description === "" ? "" : ` (${description})`}${ways === "" ? "" : `: ${ways}`}.`;
  },
};
