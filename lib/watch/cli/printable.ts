/**
 * Characters that a terminal may obey, or that make texts look alike. They are control characters (with ESC and the one-byte
 * CSI), marks of direction and joining, separators other than the space, and unassigned characters.
 */
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

/** Escapes every character of a text that is not plainly visible. The result is one line. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
  });
}

/** One line of JSON in which such characters are escaped: safe to print, and still parseable. */
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

/** The width of a printable text in terminal columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (!/\p{M}/u.test(character)) columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Cuts a text to a number of columns; a text that was cut ends in an ellipsis. */
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
