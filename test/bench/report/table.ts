/** Text in columns as a Markdown table; the first column left, the others right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  const lines = cells.map((row) => {
    const padded = widths.map((width, at) => {
      const cell = row[at] ?? '';
      return at === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(' | ')} |`;
  });
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  lines.splice(1, 0, `| ${rule.join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

/** Three significant digits; a dash for what was not seen. */
export function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (value >= 1_000) {
    return Math.round(value)
      .toString()
      .replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  }
  return String(Number(value.toPrecision(3)));
}
