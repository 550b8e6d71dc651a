import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

/** `/agents` lists the agents there are, the main one first. */
export async function agents(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.agents;
  const listed = await client.call("listAgents");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  for (const { id, name, description, tools, slot } of listed.value.items) {
    const has = tools === null ? texts.allTools : texts.tools({ count: tools.length });
    const more = slot === null ? has : `${has} · ${slot}`;
    console.say(texts.entry({ id: safeLine(id, 64), name: safeLine(name, 64), more }));
    if (description !== "") console.say(`    ${safeLine(description, 200)}`);
  }
  console.say(texts.hint());
}
