import { InputError } from '../input-error.ts';

/** The gateway takes numbers; beyond 2^53 one would be rounded to another id. */
export function toNotificationIds(ids: readonly string[]): readonly number[] {
  return ids.map((id) => {
    const number = /^-?\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
    if (!Number.isSafeInteger(number)) {
      throw new InputError('input.ids', 'input.ids must be whole numbers within ±2^53.');
    }
    return number;
  });
}
