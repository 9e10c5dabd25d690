import { GraphQLError, GraphQLScalarType } from 'graphql';
import { DateTimeResolver, JSONResolver } from 'graphql-scalars';
import { INEXACT } from '../lib/exact-json.ts';
import { momentText } from '../lib/moment-text.ts';
import { builder } from './builder.ts';

const { serialize: _, coerceOutputValue: __, ...input } = DateTimeResolver.toConfig();

const DateTime = new GraphQLScalarType<Date, string>({
  ...input,
  description: 'A moment in ISO 8601, in UTC: `2026-11-20T09:30:00.000Z`.',
  // A string instead of a Date: one value with a `toJSON` makes JSON.stringify leave its fast path
  // for the whole response.
  coerceOutputValue: (value) => momentText(typeof value === 'number' ? value : moment(value)),
});

const JSONValue = new GraphQLScalarType({
  ...JSONResolver.toConfig(),
  description: 'Any JSON value, passed on as it is.',
  coerceInputValue: (value) => {
    refuseInexact(value);
    return value;
  },
});

builder.addScalarType('DateTime', DateTime);
builder.addScalarType('JSON', JSONValue);

/** The limits on variables have already bounded the depth of the value. */
function refuseInexact(value: unknown): void {
  if (value === INEXACT) throw new GraphQLError(`JSON cannot represent ${INEXACT.description}`);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(refuseInexact);
}

function moment(value: unknown): number {
  const date = value instanceof Date ? value : DateTimeResolver.coerceOutputValue(value);
  return date.getTime();
}
