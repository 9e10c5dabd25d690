import * as f from '../fields.ts';
import type { CallDescription } from '../operation-traits.ts';
import type { Shape } from '../shape.ts';

export const ACKNOWLEDGED = f.table('Acknowledged', { success: f.vital(f.flag) });

/** Describes the call of a small write, whose answer reports only whether it was done. */
export function acknowledged(
  method: CallDescription['method'],
  path: string,
  body: { readonly shape: Shape },
): CallDescription {
  return { method, path, body: body.shape, answer: ACKNOWLEDGED.shape };
}
