import SchemaBuilder, { type FieldMap, type ObjectRef } from '@pothos/core';
import { GraphQLError, GraphQLScalarType, valueFromASTUntyped, visit } from 'graphql';
import type { ReadOperation } from '../gateway/define-operation.ts';
import type { ReadName } from '../gateway/operations.ts';
import type { Moment } from '../gateway/scalars.ts';
import { traits } from '../lib/field-traits.ts';
import { INEXACT } from '../lib/json.ts';
import { momentText, parseMoment } from '../lib/moment-text.ts';
import { InputError } from '../lib/public-error.ts';
import type { Context } from './context.ts';
import type { AccountRead, Scope } from './scope.ts';

interface SchemaTypes {
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: Date | Moment };
    JSON: { Input: unknown; Output: unknown };
  };
}

/** The only builder: every file of this folder adds its types and the queries that return them. */
export const builder = new SchemaBuilder<SchemaTypes>({});

builder.queryType({
  description:
    'All reads. Each field is nullable, so that a failing field does not affect the other parts of a screen.',
});
builder.mutationType({
  description:
    'All writes. Fields run one after the other, in the order of the document. Each is nullable, so that one can have an outcome and another an error.',
});

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

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Each> ? Each : never;
export type RefOf<Row> = ObjectRef<Types, Row>;
export type FieldBuilder<Source> = PothosSchemaTypes.ObjectFieldBuilder<Types, Source>;

interface Scalars {
  ID: string;
  String: string;
  Int: number;
  Float: number;
  Boolean: boolean;
  DateTime: Date | number;
  JSON: unknown;
}

type Outputs = { [Name in keyof Scalars]: Scalars[Name] | null } & {
  [Name in keyof Scalars as `${Name}!`]: Scalars[Name];
} & { [Name in keyof Scalars as `[${Name}!]!`]: readonly Scalars[Name][] };

/** A description, or one with the reason why the field is deprecated. */
type Description = string | { readonly description: string; readonly deprecationReason: string };

/** Maps types, in SDL notation, to properties with the descriptions of their fields. */
type Descriptions<Source> = {
  readonly [Type in keyof Outputs]?: {
    readonly [Name in keyof Source as Source[Name] extends Outputs[Type]
      ? Name
      : never]?: Description;
  };
};

export function exposed<Source>(
  t: FieldBuilder<Source>,
  descriptions: Descriptions<Source>,
): FieldMap {
  return fieldsOf(descriptions, (name, options) => t.expose(name as never, options as never));
}

export function exposedOf<Source, Part>(
  t: FieldBuilder<Source>,
  partOf: (source: Source) => Part,
  descriptions: Descriptions<Part>,
): FieldMap {
  return fieldsOf(descriptions, (name, options) => {
    const resolve = (source: Source) => partOf(source)[name as keyof Part];
    return t.field({ ...options, resolve } as never);
  });
}

function fieldsOf(
  descriptions: object,
  fieldOf: (name: string, options: object) => FieldMap[string],
): FieldMap {
  const fields: FieldMap = {};
  // The copy is for TypeScript, which finds no entries in an `object`.
  for (const [sdlType, properties] of Object.entries<Record<string, Description>>({
    ...descriptions,
  })) {
    const nullable = !sdlType.endsWith('!');
    const name = sdlType.replaceAll(/[[\]!]/g, '');
    const type = sdlType.startsWith('[') ? [name] : name;
    for (const [property, given] of Object.entries(properties)) {
      const described = typeof given === 'string' ? { description: given } : given;
      fields[property] = fieldOf(property, { type, nullable, ...described });
    }
  }
  return fields;
}

/** Options of a field that is never null, as in `t.exposeFloat('min', nonNull('…'))`. */
export function nonNull<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: false, description } as const;
}

export function nullable<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: true, description } as const;
}

/** Spread into a type or a field whose lists have an entry for each instrument. */
export const perInstrument = { listSize: 'instruments' } as const;

const USUAL_CATALOG = 1_000;

/** The number of entries used to estimate the cost of a list `perInstrument`. */
export function catalogSize(catalogs: { readonly largestSize: number }): number {
  return catalogs.largestSize || USUAL_CATALOG;
}

/** Spread into a field's options. If a field lacks it, a document can cost one more gateway call. */
export function reads(read: AccountRead) {
  return traits({ reads: read });
}

/** Spread into the options of a field that returns a read of its scope. */
export function ownRead<T>(name: AccountRead, read: (scope: Scope) => T) {
  const resolve = (_source: unknown, _args: unknown, { scope }: Context) => read(scope);
  return { ...reads(name), nullable: true, resolve } as const;
}

/** Spread into the options of a field that returns the gateway's answer to a read. */
export function answerOf<T>(operation: ReadOperation<undefined, T> & { readonly name: ReadName }) {
  return ownRead(operation.name, (scope) => scope.read(operation));
}

/**
 * Options of an argument that limits the age of the snapshot: the lowest value counts for all fields of an operation. Only
 * fields of the root may have it, because the operation is searched for it before any field is resolved.
 */
export function ageLimit(description: string) {
  return { ...traits({ isAgeLimit: true }), description } as const;
}

/** Refuses a negative age. Only the field with the argument fails. */
export function checkAge(maxAge: number | null | undefined): void {
  if (typeof maxAge === 'number' && maxAge < 0) {
    throw new InputError('maxAge', 'maxAge must be 0 or more seconds.');
  }
}
