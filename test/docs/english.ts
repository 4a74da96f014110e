/** What a page says, without code and marks of Markdown: one text for each paragraph, item of a list and cell of a table. */
function proseOf(markdown: string): string[] {
  const lines = markdown
    .replaceAll(/^---\n[^]*?^---\n/gm, '')
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^(#+|\s*[-*]|\s*\d+\.) /gm, '\n')
    .replaceAll(/^\|(.*)\|$/gm, (_, row: string) => `\n${row.replaceAll(/ \| |<br>/g, '\n\n')}\n`);
  return lines
    .split(/\n\s*\n/)
    .map((text) => text.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean);
}

/** The sentences of a page that have more than `most` words; code in a sentence counts as it is written. */
export function longSentences(markdown: string, most: number): string[] {
  return proseOf(markdown)
    .flatMap((text) => text.split(/(?<=[.!?…]["'`*)]*) (?=["'`*(]*[A-Z0-9`])/))
    .filter((sentence) => countWords(sentence) > most);
}

/** As \`wc -w\` counts. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
