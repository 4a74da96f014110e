import { MARKERS, processOf } from '../locks/holder.js';
import type { Share } from '../options/index.js';
import { modeOf } from './memory-holders.js';

/** What else it is that stands at the name; undefined if it may be shared, or waited for. */
export function foreignType(
  value: { type: string; text: string } | undefined,
  share: Share | undefined,
): string | undefined {
  if (!value) return undefined;
  if (value.type !== 'string') return value.type;
  if (value.text === MARKERS.permits)
    return share && modeOf(share) === 'permits' ? undefined : 'semaphore';
  if (!share || modeOf(share) === 'shared') return undefined;
  return value.text === MARKERS.shared || processOf(value.text) ? 'lock' : undefined;
}
