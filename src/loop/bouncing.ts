/** What agents of a conversation did, in order: `to` and `text` where it was mail to another agent, without them where it was work. */
export type Deed = { readonly agent: string; readonly to?: string | undefined; readonly text?: string | undefined };

/** Which agents only write to each other, and by what it is seen. */
export type Bouncing = {
  readonly agents: readonly string[];
  readonly because: "same_mail" | "only_mail";
  readonly times: number;
};

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
 * made or ended, no word of the user.
 */
export function bouncingIn(deeds: readonly Deed[]): Bouncing | undefined {
  const newest = deeds.at(-1);
  if (newest?.to === undefined) return undefined;
  const two = [newest.agent, newest.to];
  const isOfTwo = ({ agent }: Deed) => two.includes(agent);
  const isBetween = ({ agent, to }: Deed) =>
    to !== undefined && to !== agent && two.includes(agent) && two.includes(to);
  const mails = deeds.filter(isBetween).slice(-windowMax);
  const same = mails.filter((mail) => isSame(mail, newest)).length;
  if (same >= sameMailMax) return { agents: two, because: "same_mail", times: same };
  const own = deeds.filter(isOfTwo);
  const lastWork = own.findLastIndex((deed) => !isBetween(deed));
  const idle = own.length - 1 - lastWork;
  return idle >= mailsMax ? { agents: two, because: "only_mail", times: idle } : undefined;
}

/** Blanks, capital letters and numbers that count up make no news. */
function isSame(one: Deed, other: Deed): boolean {
  return one.agent === other.agent && one.to === other.to && plain(one.text) === plain(other.text);
}

const comparedCharacters = 2_000;

function plain(text = ""): string {
  return text.slice(0, comparedCharacters).toLowerCase().replaceAll(/\d+/g, "#").replaceAll(/\s+/g, " ").trim();
}
