/** Agents that work for others, as people read of them in the terminal. */
export const enTeam = {
  state: {
    idle: "idle",
    working: "at work",
    waiting_person: "waits for you",
    waiting_agents: "waits for others",
    done: "done",
    failed: "failed",
    terminated: "stopped",
    limit: "at its limit",
  },
  steps: (p: { count: number }) => (p.count === 1 ? "1 step" : `${p.count} steps`),
  tokens: (p: { count: number }) => `${p.count} tokens`,
  begins: (p: { task: string }) => `begins: ${p.task}`,
  stopping: (p: { name: string }) => `✓ ${p.name} is being stopped.`,
  usage: () => "✗ Use: /agents, or /agents stop NAME",
};
