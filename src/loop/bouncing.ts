/** What agents of a conversation did, in order: `to` and `words` where it was mail to another agent, without them where it was work. */
export type Deed = { readonly agent: string; readonly to?: string | undefined; readonly words?: string | undefined };

/** By what it is seen that two agents only write to each other. */
export type Bouncing = { readonly because: "same_mail" | "only_mail"; readonly times: number };

/** The same mail so often among so many is a circle. */
const sameMailMax = 3;
const windowMax = 10;
/** Mails to and fro between two agents, of which neither has done anything else. */
const mailsMax = 12;

/**
 * The rule by which agents that go round in circles are stopped. It is fixed: no setting, no mode and no approval passes
 * it. Undefined while there is no circle. `deeds` end with the newest mail: one that is named here is not delivered.
 *
 * Same mail: three times the same words from the same agent to the same other, among the last ten mails of the two.
 * Only mail: twelve mails between two agents without a deed of either of them in between: no call of a tool, no agent
 * made or ended, no word of the user. What they write to others is none.
 */
export function bouncingIn(deeds: readonly Deed[]): Bouncing | undefined {
  const newest = deeds.at(-1);
  if (newest?.to === undefined) return undefined;
  const two = [newest.agent, newest.to];
  const isBetween = ({ agent, to }: Deed) =>
    to !== undefined && to !== agent && two.includes(agent) && two.includes(to);
  const isWork = ({ agent, to }: Deed) => to === undefined && two.includes(agent);
  const same = deeds
    .filter(isBetween)
    .slice(-windowMax)
    .filter(({ agent, words }) => agent === newest.agent && words !== undefined && words === newest.words).length;
  if (same >= sameMailMax) return { because: "same_mail", times: same };
  const idle = deeds.slice(deeds.findLastIndex(isWork) + 1).filter(isBetween).length;
  return idle >= mailsMax ? { because: "only_mail", times: idle } : undefined;
}

const comparedCharacters = 2_000;

/** What a mail says: blanks, capital letters and numbers that count up make no news. */
export function plainWords(text: string): string {
  return text.slice(0, comparedCharacters).toLowerCase().replaceAll(/\d+/g, "#").replaceAll(/\s+/g, " ").trim();
}
