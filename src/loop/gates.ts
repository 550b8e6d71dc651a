/**
 * Lets appends to one log pass side by side, and one that rests on where the log stands pass alone: with many agents at
 * work a log would else never stand still for long enough.
 */
export interface Gates {
  /** Passes at once, unless somebody passes alone or is about to. */
  among<T>(number: number, work: () => Promise<T>): Promise<T>;
  /** Waits until nobody else passes, and lets nobody pass meanwhile. */
  alone<T>(number: number, work: () => Promise<T>): Promise<T>;
}

type Gate = {
  passing: number;
  /** Resolves when nobody passes alone or waits to; undefined where that is so. */
  closed: Promise<void> | undefined;
  onEmpty: (() => void) | undefined;
};

export function openGates(): Gates {
  const gates = new Map<number, Gate>();
  const gateOf = (number: number): Gate => {
    const gate = gates.get(number) ?? { passing: 0, closed: undefined, onEmpty: undefined };
    gates.set(number, gate);
    return gate;
  };
  const leave = (number: number, gate: Gate) => {
    if (gate.passing === 0 && gate.closed === undefined) gates.delete(number);
  };

  return {
    async among(number, work) {
      for (let gate = gates.get(number); gate?.closed !== undefined; gate = gates.get(number)) await gate.closed;
      const gate = gateOf(number);
      gate.passing += 1;
      try {
        return await work();
      } finally {
        gate.passing -= 1;
        if (gate.passing === 0) gate.onEmpty?.();
        leave(number, gate);
      }
    },
    async alone(number, work) {
      for (let gate = gates.get(number); gate?.closed !== undefined; gate = gates.get(number)) await gate.closed;
      const gate = gateOf(number);
      const over = Promise.withResolvers<void>();
      gate.closed = over.promise;
      if (gate.passing > 0) {
        const empty = Promise.withResolvers<void>();
        gate.onEmpty = empty.resolve;
        await empty.promise;
        gate.onEmpty = undefined;
      }
      try {
        return await work();
      } finally {
        gate.closed = undefined;
        leave(number, gate);
        over.resolve();
      }
    },
  };
}
