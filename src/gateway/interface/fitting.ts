import { isRow } from '../wire/scalars.ts';
import type { Shape } from './shape.ts';

type Fits = (value: unknown) => boolean;

/** Makes the function that tells whether a value is as described. A word that an enum lacks fits. */
export function fitting(shape: Shape): Fits {
  if (shape.kind === 'list') {
    const fits = fitting(shape.of);
    return (value) => Array.isArray(value) && value.every((entry) => fits(entry));
  }
  if (shape.kind === 'object') {
    const fields = Object.entries(shape.fields).map(([name, { shape: of, missing }]) => {
      return { name, fits: fitting(of), isOptional: missing === 'nothing' };
    });
    return (value) =>
      isRow(value) &&
      fields.every(({ name, fits, isOptional }) => {
        const each = value[name];
        return each == null ? isOptional : fits(each);
      });
  }
  if (shape.kind === 'boolean') return (value) => typeof value === 'boolean';
  if (shape.kind === 'string') {
    return (value) => typeof value === 'string' && (value !== '' || !shape.isFilled);
  }
  // JSON.parse reads 1e999 as Infinity, which no answer can carry on; the schema serves a whole number as Int.
  return (value) => (shape.isWhole ? (Number(value) | 0) === value : Number.isFinite(value));
}
