import { GraphQLError, GraphQLScalarType, valueFromASTUntyped, visit } from 'graphql';
import { INEXACT } from '../lib/json.ts';
import { momentText, parseMoment } from '../lib/moment-text.ts';
import { builder } from './builder.ts';

const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  description:
    'A date and time in ISO 8601, in UTC: `2026-11-20T09:30:00.000Z`. An input may have another offset than `Z`.',
  // Returns a string, because one value with a `toJSON` makes JSON.stringify leave its fast path for the whole response. A
  // value of another type becomes NaN, which is not a valid date.
  coerceOutputValue(value) {
    // Live rows and answers of other services are JSON, so their dates are strings.
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
  description: 'Any JSON value, passed on unchanged.',
  specifiedByURL: 'http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf',
  parseValue: (value) => {
    refuseInexact(value);
    return value;
  },
  // `coerceInputLiteral` would receive variables inside a literal as literals; `parseLiteral` receives their values.
  parseLiteral(node, variables) {
    visit(node, {
      EnumValue(word) {
        const message = `JSON has no words without quotes, such as ${word.value}`;
        throw new GraphQLError(message, { nodes: word });
      },
    });
    return valueFromASTUntyped(node, variables);
  },
});

builder.addScalarType('DateTime', DateTime);
builder.addScalarType('JSON', JSONValue);

/** Recursion is safe: the limits on variables have already bounded the depth of the value. */
function refuseInexact(value: unknown): void {
  if (value === INEXACT) throw new GraphQLError(`JSON cannot represent ${INEXACT.description}`);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(refuseInexact);
}
