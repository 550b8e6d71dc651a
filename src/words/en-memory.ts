/** What the terminal says about memories, and about standing instructions. */
export const enMemory = {
  entry: (p: { number: number; fact: string; at: string; who: string }) =>
    `  ${p.number}. ${p.fact}  (${p.who}, ${p.at})`,
  byYou: "you",
  byAgent: (p: { conversation: string }) => `an agent in conversation ${p.conversation}`,
  none: () => "Nothing is remembered. /memory add TEXT adds a memory.",
  hint: () => "Agents are told these in every conversation. /memory add TEXT · /memory edit N TEXT · /memory forget N",
  added: (p: { count: number }) =>
    `✓ Remembered (${p.count} in all); conversations that are open hear of it with their next turn`,
  changed: (p: { number: number }) => `✓ Memory ${p.number} is changed`,
  forgotten: (p: { fact: string }) => `✓ Forgotten: ${p.fact}`,
  tooLong: (p: { max: number }) => `✗ A memory has ${p.max} characters at the most. Say it shorter.`,
  which: (p: { word: string }) => `✗ Which one? /memory ${p.word} and a number; /memory lists them.`,
  whatText: (p: { form: string }) => `✗ What is it to say? Use: ${p.form}`,
  usage: (p: { word: string }) =>
    `✗ /memory cannot do “${p.word}”. Use: /memory, /memory add TEXT, /memory edit N TEXT or /memory forget N`,

  inForce: (p: { path: string }) => `§ ${p.path} is in force as standing instructions`,
  inForceInPart: (p: { path: string }) =>
    `§ ${p.path} is in force as standing instructions, but only its beginning: it is too long`,
  noLonger: () => "§ Standing instructions are no longer in force",
};
