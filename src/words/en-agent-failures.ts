/** What can go wrong between agents of one conversation. */
export const enAgentFailures = {
  agent_unknown: (p: { name: string }): [string, string] => [
    `No agent of this conversation is called ${p.name}.`,
    "Look at the list of its agents, and name one of them.",
  ],
  agent_ended: (p: { name: string }): [string, string] => [
    `The agent ${p.name} has ended; nothing reaches it any more.`,
    "Use what it said at its end, or start another one.",
  ],
  agent_out_of_reach: (p: { name: string }): [string, string] => [
    `The agent ${p.name} cannot be addressed from here: it belongs to another task.`,
    "Write to the parent, or to an agent of the same task.",
  ],
  agent_not_yours: (p: { name: string }): [string, string] => [
    `The agent ${p.name} was not made by whoever wants to end it.`,
    "Only those above an agent can end it: tell them by a message.",
  ],
  mail_in_circles: (p: { from: string; to: string; because: string; times: number }): [string, string] => [
    `${p.from} and ${p.to} only write to each other (${
      p.because === "same_mail" ? `the same message ${p.times} times` : `${p.times} messages, and no work in between`
    }). The last message was not delivered, and agents that do so are ended.`,
    "Give such work to one agent, or say in one message all that the other needs.",
  ],
  hand_over_too_many: (p: { count: number; max: number }): [string, string] => [
    `${p.count} files are to be handed over; ${p.max} can be.`,
    "Name the files or folders that are really needed.",
  ],
};
