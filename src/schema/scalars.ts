import { GraphQLError, GraphQLScalarType, valueFromASTUntyped, visit } from 'graphql';
import { INEXACT } from '../lib/exact-json.ts';
import { momentText, parseMoment } from '../lib/moment-text.ts';
import { builder } from './builder.ts';

const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  description:
    'A moment in ISO 8601, in UTC: `2026-11-20T09:30:00.000Z`. As an input it may have another offset than `Z`.',
  // A string instead of a Date: one value with a `toJSON` makes JSON.stringify leave its fast path
  // for the whole response.
  // A value of another type becomes NaN, which is no time.
  coerceOutputValue(value) {
    // Rows of live lists are JSON, and so are the answers of other services.
    const moment = typeof value === 'string' ? parseMoment(value) : value;
    return momentText(typeof moment === 'number' || moment instanceof Date ? +moment : Number.NaN);
  },
  coerceInputValue(value) {
    const moment = typeof value === 'string' ? parseMoment(value) : null;
    if (moment === null) {
      throw new GraphQLError('DateTime must be a moment with its offset: 2026-11-20T09:30:00.000Z');
    }
    return moment;
  },
});

const JSONValue = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value, passed on as it is.',
  specifiedByURL: 'http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf',
  parseValue: (value) => {
    refuseInexact(value);
    return value;
  },
  // Variables inside a literal stay as they are: `coerceInputLiteral` would be given them as literals.
  parseLiteral(node, variables) {
    visit(node, {
      EnumValue(word) {
        const message = `JSON has no words without quotes, as ${word.value}`;
        throw new GraphQLError(message, { nodes: word });
      },
    });
    return valueFromASTUntyped(node, variables);
  },
});

builder.addScalarType('DateTime', DateTime);
builder.addScalarType('JSON', JSONValue);

/** The limits on variables have already bounded the depth of the value. */
function refuseInexact(value: unknown): void {
  if (value === INEXACT) throw new GraphQLError(`JSON cannot represent ${INEXACT.description}`);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(refuseInexact);
}
