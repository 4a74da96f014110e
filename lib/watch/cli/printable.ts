/**
 * What a terminal may obey, or what makes a text look like another: control characters, among them ESC and the one-byte
 * CSI, marks of direction and joining, separators other than the space, and what has no meaning.
 */
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

/** The text with everything in it spelt that is not plainly visible. It takes one line. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
  });
}

/** JSON of one line in which all of that is escaped, so that it can be printed as well as parsed. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => (each === Infinity ? null : each));
  return text.replaceAll(UNPRINTABLE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** How many columns of a terminal a printable text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (!/\p{M}/u.test(character)) columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** The text in so many columns at most; where something was left out it ends in an ellipsis. */
export function cutTo(text: string, most: number): string {
  if (columnsOf(text) <= most) return text;
  let kept = '';
  let columns = 0;
  for (const character of text) {
    columns += columnsOf(character);
    if (columns >= most) break;
    kept += character;
  }
  return `${kept}…`;
}
