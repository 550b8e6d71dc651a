/** How often others could have had their turn: rounds of the event loop since it was last asked. */
export function countRounds(): { taken(): number; [Symbol.dispose](): void } {
  let [rounds, isOver] = [0, false];
  const next = () => {
    rounds += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return {
    taken() {
      const taken = rounds;
      rounds = 0;
      return taken;
    },
    [Symbol.dispose]() {
      isOver = true;
    },
  };
}
