import { isPeer, OURS } from '../variants.js';

/** Ours: by default, strict, and with other options. */
const BLUES: Readonly<Record<string, string>> = {
  [OURS.byDefault]: '#0550ae',
  [OURS.strict]: '#218bff',
  [OURS.on5]: '#0a8a8a',
};
const OTHER_BLUE = '#80ccff';
const GREYS: readonly string[] = ['#1f2328', '#8c959f'];
const OTHERS = ['#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700', '#57606a'];

/** Ours in blue, raw in black or grey, each other library in a colour of its own. */
export function colours(variants: readonly string[]): (variant: string) => string {
  const libraries = [...new Set(variants.filter(isPeer).map(library))];
  return (variant) => {
    if (isOurs(variant)) return BLUES[variant] ?? OTHER_BLUE;
    if (!isPeer(variant)) return GREYS[variant.includes('+') ? 1 : 0]!;
    return OTHERS[libraries.indexOf(library(variant)) % OTHERS.length]!;
  };
}

/** The library of a variant: tuned or not, it is the same. */
export function library(variant: string): string {
  return variant.replace(/ tuned$/, '');
}

export function isOurs(variant: string): boolean {
  return (Object.values(OURS) as string[]).includes(variant);
}
