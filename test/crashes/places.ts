import assert from "node:assert/strict";

/** Where a process is killed: after the so-many-th write of this name. Others may come a little sooner or later. */
export type KillPlace = { readonly write: string; readonly times: number };

/** Each write of an undisturbed run. */
export function placesIn(writes: readonly string[]): KillPlace[] {
  return writes.map((write, index) => ({
    write,
    times: writes.slice(0, index + 1).filter((one) => one === write).length,
  }));
}

type Placed = { readonly killAfter: KillPlace };

const kindOf = ({ killAfter: { write } }: Placed) => write;

/** The first write of each kind: a fixed choice, where all of them would take too long. */
export function firstOfEachKind<P extends Placed>(places: readonly P[]): P[] {
  return [...Map.groupBy(places, kindOf).values()].flatMap(([first]) => first ?? []);
}

/** How often a place is looked for: calls that end together are stored together, and then a write is not there; next time it is. */
const runsMax = 10;
/** Whoever stands keeps the connections to its database until all of its process are killed. */
const atOnceMax = 24;

type Killing<P> = {
  /** Says of each whether the process came there. */
  readonly run: (places: readonly P[]) => Promise<readonly boolean[]>;
  readonly labelOf: (place: P) => string;
};

/** Kills at each of these places, a few at once. One that no run comes to is a fault: nothing was shown of it. */
export async function killAtEach<P extends Placed>(places: readonly P[], { run, labelOf }: Killing<P>): Promise<void> {
  let missed = places;
  for (let runs = 0; runs < runsMax && missed.length > 0; runs += 1) {
    const looked = missed;
    const isReached: boolean[] = [];
    for (let at = 0; at < looked.length; at += atOnceMax)
      isReached.push(...(await run(looked.slice(at, at + atOnceMax))));
    missed = looked.filter((_, index) => isReached[index] !== true);
  }
  assert.deepEqual(missed.map(labelOf), [], "each of these writes was once the last one");
}
