/** Colours from the terminal's own sixteen, so that the user's theme rules; without colour every text stays as it is. */
export type Style = {
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly attention: Paint;
  readonly strong: Paint;
  /** What can be acted upon, and what is chosen. */
  readonly accent: Paint;
  readonly paint: (on: number, off: number) => Paint;
};

type Paint = (text: string) => string;

export function styleFor({ color }: { color: boolean }): Style {
  const paint = (on: number, off: number) => (text: string) => (color ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  return {
    ...{ dim: paint(2, 22), good: paint(32, 39), bad: paint(31, 39), attention: paint(33, 39), strong: paint(1, 22) },
    ...{ accent: paint(36, 39), paint },
  };
}
