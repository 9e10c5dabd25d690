import type { Eventually } from '../../lib/eventually.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { PackedText } from '../../lib/packed-text.ts';
import type { JsonText } from '../results/json-text.ts';

/** A result as a transport takes it: JSON, or packed where it is large enough. */
export type EventText = JsonText | PackedText;

/**
 * Packs a result: synchronously, in the next slice where many accounts tick together, or in the thread
 * pool where it is large.
 */
export function packResult(
  text: JsonText,
  scheduler: FairScheduler,
  client: string,
): Eventually<EventText> {
  if (!PackedText.isWorthwhile(text)) return text;
  if (typeof text !== 'string' || PackedText.isLarge(text)) return PackedText.ofLarge(text);
  if (!scheduler.isSliceOver()) return PackedText.of(text);
  return scheduler.turn(client).then(() => PackedText.of(text));
}
