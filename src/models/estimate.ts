const asciiPerToken = 4;
const otherPerToken = 2;

/**
 * The one estimate of tokens in the house: ASCII ÷ 4, Han × 1, other ÷ 2, rounded up. Counted in UTF-16 units, so that
 * an emoji or a rare Han character, which takes two, weighs one token.
 */
export function estimateTokens(text: string): number {
  // Byte length equals length only for ASCII, and the runtime knows it without looking at each character.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / asciiPerToken);
  let ascii = 0;
  let han = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii += 1;
    else if (isHan(unit)) han += 1;
  }
  return Math.ceil(ascii / asciiPerToken + han + (text.length - ascii - han) / otherPerToken);
}

function isHan(unit: number): boolean {
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3400 && unit <= 0x4dbf) || (unit >= 0xf900 && unit <= 0xfaff);
}
