/** Signs of ours, each with one character that every terminal has. All are one cell wide. */
const signs: Readonly<Record<string, string>> = {
  ...{ "✓": "+", "✗": "x", "●": "*", "○": "o", "•": "*", "■": "#", "▸": ">", "▾": "v", "⚙": "*" },
  ...{ "→": ">", "↳": ">", "›": ">", "↑": "^", "↓": "v", "↻": "@", "…": "~", "·": "-", "—": "-", "–": "-" },
  ...{ "“": '"', "”": '"', "‘": "'", "’": "'", "─": "-", "│": "|", "═": "=", "║": "|" },
  ...{ "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+" },
};
const anySign = new RegExp(`[${Object.keys(signs).join("")}]`, "g");

/** For a terminal that cannot show more: our own signs. What people and models write stays as it is. */
export function inAscii(line: string): string {
  return line.replace(anySign, (sign) => signs[sign] ?? sign);
}
