import { Session } from 'node:inspector';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json[^,]*;base64,(.+)$/m;

/** Which lines of the TypeScript in one folder ran, from one look to the next. */
export class LineCoverage {
  #session = new Session();
  #tokens = new Map();

  constructor(folder) {
    this.folder = folder;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The lines, from 1 on, that ran since the last look: `[file, lines]`. */
  take() {
    const ours = this.#post('Profiler.takePreciseCoverage').result.filter(
      ({ url, functions }) =>
        this.#fileOf(url) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    );
    this.#read(ours.filter(({ scriptId }) => !this.#tokens.has(scriptId)));
    return ours.map(({ scriptId, url, functions }) => {
      const tokens = this.#tokens.get(scriptId);
      const ran = charactersIn(functions);
      const lines = new Set(tokens.filter(({ at }) => ran[at] === 1).map(({ line }) => line));
      return [this.#fileOf(url), lines];
    });
  }

  end() {
    this.#session.disconnect();
  }

  /** From the folder's parent on. */
  #fileOf(url) {
    const path = url.startsWith('file://') ? fileURLToPath(url) : url;
    const inside = path.startsWith(`${this.folder}/`) && path.endsWith('.ts');
    return inside ? relative(`${this.folder}/..`, path) : undefined;
  }

  /** Where each token of a script's code stands, and in which line of its source. */
  #read(scripts) {
    if (scripts.length === 0) return;
    this.#post('Debugger.enable');
    for (const { scriptId } of scripts) {
      const { scriptSource } = this.#post('Debugger.getScriptSource', { scriptId });
      const [, encoded] = INLINE_MAP.exec(scriptSource) ?? [];
      const map = encoded && new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString()));
      this.#tokens.set(scriptId, map ? tokensOf(scriptSource, map) : []);
    }
    this.#post('Debugger.disable');
  }

  /** A session on one's own thread answers at once. */
  #post(method, params) {
    let answer;
    this.#session.post(method, params, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

function tokensOf(code, map) {
  const tokens = [];
  let start = 0;
  for (const [row, text] of code.split('\n').entries()) {
    for (const { index } of text.matchAll(/[\w$]+|[^\s\w$]/g)) {
      const { originalLine } = map.findEntry(row, index);
      if (originalLine !== undefined) tokens.push({ at: start + index, line: originalLine + 1 });
    }
    start += text.length + 1;
  }
  return tokens;
}

/** One for each character that ran: what is inside says more than what is around it. */
function charactersIn(functions) {
  const ranges = functions.flatMap((each) => each.ranges);
  ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  const ran = new Uint8Array(Math.max(...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  return ran;
}
