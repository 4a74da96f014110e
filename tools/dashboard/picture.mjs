const WIDTH = 1_200;
const COLUMN = WIDTH / 24;
const ROW = 26;
const HEAD = 44;
const COLOURS = ['#7eb26d', '#eab839', '#6ed0e0', '#ef843c', '#e24d42', '#1f78c1', '#ba43a9'];

/** Panels as the dashboard places them, each with its series: `{ name, points: [s, value][] }`. */
export function dashboardPicture(title, panels, span) {
  const height = HEAD + ROW * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) + 8;
  const content = panels.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    const box = { width: w * COLUMN - 8, height: h * ROW - 8 };
    const inside = panel.type === 'stat' ? stat(panel, box) : chart(panel, box, span);
    return `<g transform="translate(${x * COLUMN + 4} ${HEAD + y * ROW})"><rect width="${box.width}" height="${box.height}" rx="3" fill="#181b1f" stroke="#2c3235"/>${text(10, 19, panel.title, { weight: 600 })}${inside}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="The panels of the dashboard" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, sans-serif" font-size="13">
<rect width="${WIDTH}" height="${height}" fill="#111217"/>
${text(12, 28, title, { size: 17, weight: 600 })}${text(WIDTH - 12, 28, `${span} s of an application under load`, { anchor: 'end', fill: '#9fa7b3' })}
${content.join('\n')}
</svg>
`;
}

function stat({ series, fieldConfig }, { width, height }) {
  const value = series[0]?.points.at(-1)?.[1] ?? 0;
  const steps = fieldConfig.defaults.thresholds?.steps ?? [];
  const { color = 'blue' } =
    steps.findLast((step) => step.value === null || value >= step.value) ?? {};
  const fill = { blue: '#5794f2', green: '#73bf69', red: '#f2495c' }[color];
  return text(width / 2, height / 2 + 22, String(Math.round(value)), {
    size: 34,
    weight: 600,
    anchor: 'middle',
    fill,
  });
}

function chart({ series, fieldConfig }, { width, height }, span) {
  const [left, right, top, bottom] = [52, width - 12, 32, height - 42];
  const most = rounded(Math.max(0, ...series.flatMap(({ points }) => points.map(([, v]) => v))));
  const x = (time) => (left + (time / span) * (right - left)).toFixed(0);
  const y = (value) => (bottom - (value / most) * (bottom - top)).toFixed(1);
  const lines = [0, 0.5, 1].map(
    (part) =>
      `<line x1="${left}" x2="${right}" y1="${y(part * most)}" y2="${y(part * most)}" stroke="#2c3235"/>${text(left - 6, Number(y(part * most)) + 4, said(part * most, fieldConfig.defaults.unit), { anchor: 'end', fill: '#9fa7b3', size: 11 })}`,
  );
  let at = left;
  const drawn = series.map(({ name, points }, nth) => {
    const colour = COLOURS[nth % COLOURS.length];
    const path = pathOf(points.map(([time, value]) => [x(time), y(value)]));
    const label = `<rect x="${at}" y="${height - 22}" width="12" height="3" fill="${colour}"/>${text(at + 18, height - 17, name, { size: 11 })}`;
    at += 36 + name.length * 6.6;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>${label}`;
  });
  return [...lines, ...drawn].join('');
}

/** The least of 1, 2, 5 × 10ⁿ that is no less. */
function rounded(value) {
  if (value === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((step) => step * power >= value) * power;
}

function said(value, unit) {
  const number = (each) => String(Number(each.toPrecision(2)));
  if (unit !== 's') return unit === 'ops' ? `${number(value)} /s` : number(value);
  return value < 1 ? `${number(value * 1_000)} ms` : `${number(value)} s`;
}

function text(x, y, content, { size, weight, anchor, fill = '#ccccdc' } = {}) {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const unusual = { 'font-size': size, 'font-weight': weight, 'text-anchor': anchor };
  const said = Object.entries(unusual).filter(([, value]) => value !== undefined);
  const attributes = said.map(([name, value]) => ` ${name}="${value}"`).join('');
  return `<text x="${x}" y="${y}"${attributes} fill="${fill}">${escaped}</text>`;
}

/** Where a line is level, its ends say it all. */
function pathOf(points) {
  const isLevel = (at) =>
    points[at - 1]?.[1] === points[at][1] && points[at + 1]?.[1] === points[at][1];
  return points.filter((_, at) => !isLevel(at)).join(' ');
}
