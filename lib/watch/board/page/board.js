/**
 * A lock as the application sends it. Spans are in ms, by the clock of Redis at the moment of the scan.
 * @typedef {object} Row
 * @property {string} key
 * @property {string} mode
 * @property {boolean} held
 * @property {{ host: string, pid: number, label?: string, count: number }[]} holders
 * @property {number} others how many processes hold it that are not named
 * @property {string} [plus] a plus sign where both numbers of holders may be greater
 * @property {number} [heldFor]
 * @property {number | null} [remaining] null: it never ends
 * @property {number} waiting
 * @property {number} awaiting
 * @property {number} [oldest]
 * @property {string} [grant] which grant is seen
 */

/** @typedef {{ release: boolean, pattern: string, limit: number, interval: number }} Settings */

/** A row of the table on the page. @typedef {{ row: Row, at: number, line: HTMLTableRowElement, text: string }} Line */

/** The page's own address, under any prefix, without user and password: `fetch` refuses an address that has them. */
const HERE = location.origin + location.pathname.replace(/\/+$/, '');
/** In ms: the silence after which the connection counts as lost, and the pause before it is tried again. */
const SILENCE = 20_000;
const AGAIN = { first: 1_000, last: 15_000 };

/** @type {<Kind extends HTMLElement>(id: string) => Kind} */
const byId = (id) => /** @type {never} */ (document.getElementById(id));
const page = {
  status: byId('status'),
  summary: byId('summary'),
  notice: byId('notice'),
  cut: byId('cut'),
  empty: byId('empty'),
  frame: byId('frame'),
  table: /** @type {HTMLTableElement} */ (document.querySelector('table')),
  filter: /** @type {HTMLInputElement} */ (byId('filter')),
};
const tbody = /** @type {HTMLTableSectionElement} */ (page.table.tBodies[0]);

/** @type {Map<string, Line>} */
const lines = new Map();
/** @type {Settings} */
let settings = { release: false, pattern: '*', limit: 0, interval: 0 };
/** @type {{ by: string, descending: boolean }} */
let order = { by: 'key', descending: false };
let known = false; // true after the first list
let stale = false; // true while the connection is lost: the times stand still

// ── Texts ──

/** Writes a text only if it differs, so that a selection or a screen reader is not disturbed. @param {Node} node @param {string} text */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** The roles of a table's parts: on a narrow page they are no table to the browser. @type {Record<string, string>} */
const ROLES = { tr: 'row', th: 'rowheader', td: 'cell' };

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string} className @param {(string | Node)[]} content
 */
function make(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  const role = ROLES[tag];
  if (role) made.setAttribute('role', role);
  return made;
}

/** Invisible characters, and those that reverse the text around them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|[^\S ]/gu;

/** Writes a key so that no two keys look alike: invisible characters are shown by their numbers. @param {Element} target @param {string} key */
function writeKey(target, key) {
  /** @type {(string | Node)[]} */
  const parts = [];
  let from = 0;
  for (const { 0: sign, index } of key.matchAll(UNSEEN)) {
    const code = /** @type {number} */ (sign.codePointAt(0)).toString(16).toUpperCase();
    parts.push(key.slice(from, index), make('span', 'sign', `U+${code.padStart(4, '0')}`));
    from = index + sign.length;
  }
  target.replaceChildren(make('bdi', '', ...parts, key.slice(from)));
}

/** @param {number} ms */
function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** @param {number} number */
function two(number) {
  return String(number).padStart(2, '0');
}

/** @param {number} count @param {string} one @param {string} many */
function counted(count, one, many) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** @param {Row} row */
function processes({ holders, others, plus = '' }) {
  const named = holders.map(({ host, pid, label, count }) => {
    const place = pid === 0 ? 'unknown' : `${host} · pid ${pid}`;
    const process = label === undefined ? place : `${place} · ${label}`;
    return count > 1 ? `${process} ×${count}${plus}` : process;
  });
  return others > 0 ? [...named, `and ${others}${plus} more`] : named;
}

// ── The table ──

/** @param {Row} row */
function makeLine(row) {
  const head = make('th', 'key');
  head.scope = 'row';
  writeKey(head, row.key);
  const line = make('tr', '', head);
  for (const column of page.table.querySelectorAll('th[data-sort]')) {
    const name = column.getAttribute('data-sort') ?? '';
    if (name === 'key') continue;
    const cell = make('td', column.className);
    cell.dataset['cell'] = name;
    cell.dataset['label'] = column.textContent?.trim();
    line.append(cell);
  }
  if (settings.release) line.append(releaseCell(row.key));
  return line;
}

/** @param {string} key */
function releaseCell(key) {
  const button = make('button', '', 'Release …');
  button.type = 'button';
  button.setAttribute('aria-label', `Release ${key} …`);
  button.addEventListener('click', () => ask(key));
  return make('td', 'action', button);
}

/** Shows a line as of now. @param {Line} of */
function showLine({ row, at, line }) {
  const gone = stale ? 0 : performance.now() - at;
  /** @type {Record<string, string>} */
  const texts = {
    mode: row.mode,
    heldFor: row.heldFor === undefined ? '' : span(row.heldFor + gone),
    remaining:
      row.remaining === null
        ? 'no end'
        : row.remaining === undefined
          ? ''
          : span(row.remaining - gone),
    waiting: String(row.waiting),
    oldest: row.oldest === undefined ? '' : span(row.oldest + gone),
  };
  line.toggleAttribute('data-queue', row.waiting > 0);
  for (const cell of line.cells) {
    const name = cell.dataset['cell'];
    if (name === undefined) continue;
    if (name === 'holder') showHolders(cell, processes(row));
    else write(cell, texts[name] || '–');
    cell.classList.toggle('none', cell.textContent === '–' || cell.textContent === '0');
  }
  if (row.awaiting > 0) {
    const cell = line.querySelector('[data-cell=waiting]');
    if (cell) write(cell, `${row.waiting} + ${row.awaiting} on conditions`);
  }
  const button = line.querySelector('button');
  if (button) button.hidden = !row.held;
}

/** @param {HTMLElement} cell @param {string[]} names */
function showHolders(cell, names) {
  if (names.length === 0) return write(cell, '–');
  if (cell.dataset['shown'] === names.join('\n')) return;
  cell.dataset['shown'] = names.join('\n');
  cell.replaceChildren(...names.map((name) => make('span', 'process', name)));
}

/** @param {Row} row @returns {string | number} */
function sortValue(row) {
  if (order.by === 'holder') return processes(row).join();
  if (order.by === 'remaining' && row.remaining === null) return Infinity;
  const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (row))[order.by];
  return /** @type {string | number} */ (value ?? -1);
}

/** Compares keys with their numbers by value. */
const { compare: inOrder } = new Intl.Collator('en', { numeric: true });

/** @param {Line} one @param {Line} other */
function compare({ row: one }, { row: other }) {
  const [a, b] = [sortValue(one), sortValue(other)];
  const found = typeof a === 'string' ? inOrder(a, String(b)) : Math.sign(a - Number(b)) || 0;
  const sign = order.descending ? -found : found;
  return sign || inOrder(one.key, other.key);
}

/** Remembers the focus before the table changes. The returned function restores it, or focuses the next line if the line is gone. */
function keepFocus() {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const line = focused?.closest('tbody tr');
  const nth = line ? [...tbody.rows].indexOf(/** @type {HTMLTableRowElement} */ (line)) : -1;
  return () => {
    if (!line || (document.activeElement === focused && !focused.hidden)) return;
    const stays = line.isConnected && !focused.hidden;
    const next = tbody.rows[Math.min(nth, tbody.rows.length - 1)]?.querySelector('button');
    (stays ? focused : next && !next.hidden ? next : page.filter).focus({ preventScroll: true });
  };
}

/** Puts the table in order, without touching lines that keep their position. */
function show() {
  const setFocus = keepFocus();
  const sought = page.filter.value.trim().toLowerCase();
  const shown = [...lines.values()].filter(({ text }) => text.includes(sought)).sort(compare);
  const wanted = new Set(shown.map(({ line }) => line));
  for (const line of Array.from(tbody.rows)) if (!wanted.has(line)) line.remove();
  shown.forEach(({ line }, nth) => {
    if (tbody.rows[nth] !== line) tbody.insertBefore(line, tbody.rows[nth] ?? null);
  });
  for (const line of shown) showLine(line);
  page.table.hidden = shown.length === 0;
  page.empty.hidden = !known || shown.length > 0;
  write(
    page.empty,
    lines.size > 0
      ? `None of ${counted(lines.size, 'lock', 'locks')} matches “${page.filter.value.trim()}”.`
      : `No lock is held${settings.pattern === '*' ? '' : ` whose key matches ${settings.pattern}`}. It appears here as soon as one is.`,
  );
  setFocus();
  summarize(shown.length);
}

/** @param {number} shown */
function summarize(shown) {
  if (!known) return;
  let waiting = 0;
  for (const { row } of lines.values()) waiting += row.waiting;
  const locks = counted(lines.size, 'lock', 'locks');
  const part = shown === lines.size ? locks : `${shown.toLocaleString('en')} of ${locks}`;
  write(page.summary, `${part} · ${waiting.toLocaleString('en')} waiting`);
}

/** @param {{ rows: Row[], cut: boolean }} list */
function receive({ rows, cut }) {
  const at = performance.now();
  const keys = new Set(rows.map(({ key }) => key));
  for (const key of lines.keys()) if (!keys.has(key)) lines.delete(key);
  for (const row of rows) {
    const line = lines.get(row.key)?.line ?? makeLine(row);
    const text = [row.key, row.mode, ...processes(row)].join('\n').toLowerCase();
    lines.set(row.key, { row, at, line, text });
  }
  known = true;
  page.cut.hidden = !cut;
  write(
    page.cut,
    `There may be more than ${counted(settings.limit, 'lock', 'locks')}: Redis chose those that are shown.`,
  );
  refreshQuestion();
}

// ── The connection ──

/** @type {EventSource | undefined} */
let source;
/** @type {number | undefined} */
let silence;
/** @type {number | undefined} */
let retry;
let pause = AGAIN.first;
/** The time of the list that is shown. */
let asOf = '';

/** @param {'connecting' | 'live' | 'trouble' | 'lost'} state @param {string} text */
function say(state, text) {
  page.status.dataset['state'] = state;
  write(page.status, text);
  stale = state === 'lost' || state === 'trouble';
  page.frame.toggleAttribute('data-stale', stale && known);
}

/** @type {number | undefined} */
let noticed;
/** Shows for a while the outcome of a release, after the key. @param {string} key @param {string} what */
function tell(key, what) {
  clearTimeout(noticed);
  writeKey(page.notice, key);
  page.notice.append(what);
  noticed = setTimeout(() => write(page.notice, ''), 10_000);
}

function seen() {
  return known ? ` Shown as of ${asOf}.` : '';
}

function connect() {
  disconnect();
  source = new EventSource(`${HERE}/events`);
  hear('settings', (data) => {
    const { release } = settings;
    settings = data;
    page.table.querySelector('thead .action')?.toggleAttribute('hidden', !data.release);
    if (data.release !== release) lines.clear();
  });
  hear('locks', (list) => {
    pause = AGAIN.first;
    asOf = new Date().toLocaleTimeString();
    receive(list);
    say('live', `Live, every ${settings.interval / 1_000} s`);
    show();
  });
  hear('trouble', ({ message }) => {
    pause = AGAIN.first;
    say('trouble', `${message}${seen()}`);
    show();
  });
  hear('beat', () => {});
  source.addEventListener('again', connect); // the guards decide again
  source.addEventListener('error', lose);
  listen();
}

/** @param {string} event @param {(data: any) => void} then */
function hear(event, then) {
  source?.addEventListener(event, ({ data }) => {
    listen();
    then(JSON.parse(data));
  });
}

function listen() {
  clearTimeout(silence);
  silence = setTimeout(lose, SILENCE);
}

function disconnect() {
  clearTimeout(silence);
  clearTimeout(retry);
  source?.close();
  source = undefined;
}

function lose() {
  disconnect();
  say(
    'lost',
    `No connection to the application, trying again. Reload the page if you have to sign in.${seen()}`,
  );
  retry = setTimeout(connect, pause);
  pause = Math.min(pause * 2, AGAIN.last);
}

// A hidden page causes no scans of Redis.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) disconnect();
  else connect();
});

// ── Forced release ──

const dialog = {
  whole: /** @type {HTMLDialogElement} */ (byId('confirm')),
  chosen: byId('chosen'),
  consequence: byId('consequence'),
  changed: byId('changed'),
  release: /** @type {HTMLButtonElement} */ (byId('release')),
};
/** @type {Row | undefined} */
let chosen;

/** @param {string} key */
function ask(key) {
  chosen = lines.get(key)?.row;
  if (!chosen) return;
  writeKey(dialog.chosen, key);
  const from = processes(chosen).join(', ');
  write(
    dialog.consequence,
    `It is taken from ${from || 'its holder'}, and the next caller gets it. The holder is told, but for one of another service. Until it hears that, both may work at once; only fencing tokens tell their writes apart.`,
  );
  write(dialog.changed, '');
  dialog.release.disabled = false;
  dialog.whole.showModal();
}

/** Disables the release if the holder changes: the question was about another one. */
function refreshQuestion() {
  if (!chosen || !dialog.whole.open) return;
  const now = lines.get(chosen.key)?.row;
  if (now?.held && now.grant === chosen.grant) return;
  dialog.release.disabled = true;
  write(
    dialog.changed,
    now?.held
      ? `Another caller holds it now: ${processes(now).join(', ') || 'unknown'}.`
      : 'It is free now.',
  );
}

async function release() {
  const asked = chosen; // by the time of the answer, the question may be about another lock
  if (!asked) return;
  const { key, grant } = asked;
  dialog.release.disabled = true;
  try {
    const answer = await fetch(`${HERE}/release`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key, grant }),
      redirect: 'error',
      signal: AbortSignal.timeout(15_000),
    });
    const { freed, message } = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(message ?? `The application refused it (${answer.status}).`);
    if (chosen === asked) dialog.whole.close();
    tell(key, freed ? ' was released.' : ' was free already.');
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    const text =
      name === 'TypeError' || name === 'TimeoutError'
        ? 'No answer came: it may be released or not.'
        : message;
    if (chosen === asked) write(dialog.changed, text);
    else tell(key, `: ${text}`);
  }
}

byId('keep').addEventListener('click', () => dialog.whole.close());
dialog.release.addEventListener('click', () => void release());
dialog.whole.addEventListener('close', () => {
  chosen = undefined;
  const focused = document.activeElement;
  const isNowhere = focused === document.body || dialog.whole.contains(focused);
  if (isNowhere) page.filter.focus(); // the button that was clicked has gone meanwhile
});

// ── Filter, order, time ──

page.filter.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== page.filter && !dialog.whole.open) {
    event.preventDefault();
    page.filter.focus();
  }
  if (event.key === 'Escape' && document.activeElement === page.filter) {
    page.filter.value = '';
    show();
  }
});

for (const column of page.table.querySelectorAll('th[data-sort]')) {
  column.addEventListener('click', () => {
    const by = column.getAttribute('data-sort') ?? 'key';
    const descending = order.by === by ? !order.descending : column.classList.contains('number');
    order = { by, descending };
    page.table.querySelector('[aria-sort]')?.removeAttribute('aria-sort');
    column.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    show();
  });
}

setInterval(() => {
  if (!stale) for (const line of lines.values()) if (line.line.isConnected) showLine(line);
}, 1_000);

if (!document.hidden) connect();
