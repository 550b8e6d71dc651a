/** Chance as an argument: a number from 0 up to, not including, 1. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
