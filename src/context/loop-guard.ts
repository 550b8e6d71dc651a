type Call = { readonly name: string; readonly arguments: string };
type FinishedCall = Call & { readonly text: string };

/** The call asked for the fifth time with the same result is not run any more. */
export const sameCallsMax = 4;

/** The model is told when a call came this often. */
const timesTold = 3;

/** Longer cycles are not seen: looking further back would cost more with every step. */
const cycleMax = 6;

/** A cycle is new while it is seen for the first time; from its last call on it only repeats. */
const lookBackMax = cycleMax * (sameCallsMax + 1) - 1;

/** The call that by the `newest` results came for the third time without anything new: told once, not at each further time. */
export function newlyRepeated(
  finished: readonly FinishedCall[],
  newest: number,
): { name: string; times: number } | undefined {
  const before = finished.slice(0, finished.length - newest);
  return repeatedCall(before) === undefined ? repeatedCall(finished) : undefined;
}

/** Whether running this call again would be the fifth time without anything new. */
export function isStuck(finished: readonly FinishedCall[], call: Call): boolean {
  const streak = sinceNews(finished).filter((other) => isSameCall(other, call));
  return streak.some((pair) => timesIn(streak, pair) >= sameCallsMax);
}

function repeatedCall(finished: readonly FinishedCall[]): { name: string; times: number } | undefined {
  const streak = sinceNews(finished);
  const counted = streak.map((pair) => ({ name: pair.name, times: timesIn(streak, pair) }));
  return counted.find(({ times }) => times >= timesTold);
}

/** From the last call on that gave something not seen before: a new result, or a new call. Later ones only repeat. */
function sinceNews(finished: readonly FinishedCall[]): readonly FinishedCall[] {
  const recent = finished.slice(-lookBackMax);
  const news = recent.findLastIndex((pair, index) => recent.findIndex((other) => isSamePair(pair, other)) === index);
  return recent.slice(Math.max(news, 0));
}

function timesIn(streak: readonly FinishedCall[], pair: FinishedCall): number {
  return streak.filter((other) => isSamePair(pair, other)).length;
}

function isSamePair(a: FinishedCall, b: FinishedCall): boolean {
  return isSameCall(a, b) && a.text === b.text;
}

function isSameCall(a: Call, b: Call): boolean {
  return a.name === b.name && a.arguments === b.arguments;
}
