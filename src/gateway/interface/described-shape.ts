import type { Description, Scalar } from '../wire/described.ts';
import * as read from '../wire/scalars.ts';
import {
  boolean,
  nullable,
  number,
  numericId,
  object,
  type ScalarShape,
  type Shape,
  string,
  time,
  vital,
  wholeNumber,
} from './shape.ts';

const SCALARS: ReadonlyMap<Scalar, ScalarShape> = new Map<Scalar, ScalarShape>([
  [read.text, string],
  [read.flag, boolean],
  [read.digits, numericId],
  [read.figure, number],
  [read.integer, wholeNumber],
  [read.instant, time],
]);

const SAMPLES = { string: 'x', number: 1, boolean: true };

/**
 * The shape of a description by which answers are read. `isRead`: whether an answer is read that has the value in the
 * description's place; that the readers tell themselves what a missing field costs spares a table that says it again.
 */
export function shapeOf(description: Description, isRead: (value: unknown) => boolean): Shape {
  if (typeof description === 'function') return scalarOf(description);
  if (Array.isArray(description)) {
    const of = shapeOf(description[0], (entry) => isRead([entry]));
    return { kind: 'list', of, wrong: isRead([null]) ? 'value' : 'answer' };
  }
  const fields = Object.entries(description).map(([name, of]) => {
    const isReadWith = (value: unknown) =>
      isRead(Object.assign(sampleOf(description), { [name]: value }));
    return [name, (isReadWith(null) ? nullable : vital)(shapeOf(of, isReadWith))];
  });
  return object(Object.fromEntries(fields));
}

function scalarOf(scalar: Scalar): ScalarShape {
  const shape = SCALARS.get(scalar);
  if (shape === undefined) throw new Error(`no shape is known for the reader ${scalar.name}`);
  return shape;
}

/** A value that fits the description. */
function sampleOf(description: Description): object | string | number | boolean {
  if (typeof description === 'function') return SAMPLES[scalarOf(description).kind];
  if (Array.isArray(description)) return [sampleOf(description[0])];
  const fields = Object.entries(description).map(([name, of]) => [name, sampleOf(of)]);
  return Object.fromEntries(fields);
}
