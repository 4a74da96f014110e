import { OURS, RAW } from '../adapters/index.js';

const BLUES = ['#0550ae', '#218bff', '#80ccff'];
const OTHERS = ['#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700', '#57606a'];

/** Ours in blue, raw in black, each other library in a colour of its own. */
export function colours(variants: readonly string[]): (variant: string) => string {
  const libraries = [...new Set(variants.map(library))].filter((name) => !isOurs(name));
  return (variant) => {
    const ours = OURS.findIndex(({ name }) => name === variant);
    if (ours >= 0) return BLUES[ours % BLUES.length]!;
    if (variant === RAW.name) return '#1f2328';
    return OTHERS[libraries.indexOf(library(variant)) % OTHERS.length]!;
  };
}

/** The library of a variant: tuned or not, it is the same. */
export function library(variant: string): string {
  return variant.replace(/ tuned$/, '');
}

export function isOurs(variant: string): boolean {
  return OURS.some(({ name }) => name === variant);
}
