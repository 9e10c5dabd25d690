import type { CallDescription, DescribedOperation } from '../gateway/operation-traits.ts';
import {
  BEFORE_TOKEN,
  type ErrorShape,
  errorBody,
  TOKEN_HEADER,
} from '../gateway/operations/conventions.ts';
import { OPERATION_NAMES, OPERATIONS } from '../gateway/operations.ts';
import type { FieldShape, ObjectShape, ScalarShape, Shape } from '../gateway/shape.ts';

const IS_BEARER = /^authorization: Bearer $/.test(`${TOKEN_HEADER}: ${BEFORE_TOKEN}`);
const TOKEN_SCHEME = IS_BEARER
  ? { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
  : { type: 'apiKey', in: 'header', name: TOKEN_HEADER };

/** A part of a JSON Schema, as in OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };

/** The names of the schemas of refusals. A sign-in can also be refused by a 200. */
const ERRORS: Readonly<Record<ErrorShape, string>> = {
  details: 'DetailedError',
  plain: 'PlainError',
  message: 'MessageError',
  submit: 'OrderError',
  'sign-in': 'SignInError',
};
/** Every part of a refusal, from which their properties are made. */
const REFUSAL = { error: '', message: '', details: {}, email: '' };

/** Notes on fields that the service sends. */
const NOTES: Readonly<Record<string, string>> = {
  direction: 'By the name in GATEWAY_DIRECTION_FIELD.',
  value: 'Any JSON.',
};

/** The gateway's interface as the operations' tables describe it: an OpenAPI 3.1 document. */
export function openApi() {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of OPERATION_NAMES) {
    const operation: DescribedOperation = OPERATIONS[name];
    const calls = Object.entries(operation.calls);
    for (const [index, [callName, call]] of calls.entries()) {
      // The first call is named like its operation.
      const id = index === 0 ? name : `${name}.${callName}`;
      const described = operationOf(operation, call, id, schemas);
      paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: described };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'The trading gateway',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'The operations that Trading Graph calls at GATEWAY_URL. Fields that are not required may be missing or null; others that come are ignored. Numbers may be decimals in texts, times ISO 8601.',
    },
    servers: [
      {
        url: '{gateway}',
        description: 'GATEWAY_URL',
        variables: { gateway: { default: 'https://gateway.example.com' } },
      },
    ],
    paths,
    components: {
      schemas: schemas.all,
      securitySchemes: { token: TOKEN_SCHEME },
    },
  };
}

function operationOf(
  { number, isAnonymous, errors }: DescribedOperation,
  { path, query = [], body, answer }: CallDescription,
  operationId: string,
  schemas: Schemas,
) {
  const refusal = content(schemas.named(ERRORS[errors], { properties: propertiesOf(errors) }));
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: TEXT,
    })),
    ...query.map((name) => ({ name, in: 'query', schema: TEXT })),
  ];
  const requestBody = body && { required: true, ...content(schemas.of(body, true)) };
  return {
    operationId,
    summary: `op ${number}`,
    tags: path.split('/').slice(1, 2),
    security: isAnonymous ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      200: { description: 'Done.', ...content(schemas.of(answer)) },
      '4XX': { description: 'Refused.', ...refusal },
      '5XX': { description: 'Failed.', ...refusal },
    },
  };
}

function propertiesOf(errors: ErrorShape) {
  const properties = Object.entries(errorBody(errors, REFUSAL));
  const typed = properties.map(([name, value]) => [
    name,
    value === false ? { const: false } : { type: typeof value },
  ]);
  return Object.fromEntries(typed) as Schema;
}

function content(schema: Schema) {
  return { content: { 'application/json': { schema } } };
}

/** The schemas of the document. The schemas of objects have names. */
class Schemas {
  readonly all: Record<string, Schema> = {};

  named(name: string, schema: Schema): Schema {
    this.all[name] ??= { type: 'object', ...schema };
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema of a shape. With `isSent` it describes a body that the service sends: no other fields, and no nulls. */
  of(shape: Shape, isSent = false): Schema {
    if (shape.kind === 'list') return { type: 'array', items: this.of(shape.of, isSent) };
    return shape.kind === 'object' ? this.#object(shape, isSent) : scalarOf(shape);
  }

  #object({ name: objectName, fields }: ObjectShape, isSent: boolean): Schema {
    const entries = Object.entries(fields);
    const required = entries.filter(([, field]) => isNeeded(field)).map(([name]) => name);
    const properties = entries.map(([name, field]) => {
      const schema = this.of(field.shape, isSent);
      const note = isSent ? NOTES[name] : undefined;
      const mayBeNull = !isSent && !isNeeded(field);
      const described = note === undefined ? {} : { description: note };
      return [name, { ...(mayBeNull ? orNull(schema) : schema), ...described }];
    });
    return this.named(objectName, {
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
      ...(isSent && { additionalProperties: false }),
    });
  }
}

function scalarOf({ kind, isWhole, isId, isFilled, isTime, minimum, oneOf }: ScalarShape): Schema {
  return {
    ...(kind !== 'any' && { type: isWhole || isId ? 'integer' : kind }),
    ...(isFilled && { minLength: 1 }),
    ...(minimum !== undefined && { minimum }),
    ...(oneOf && { enum: oneOf }),
    ...(isTime && {
      description: 'Since 1970, in seconds, or in milliseconds (GATEWAY_TIME_UNIT).',
    }),
  };
}

/** Whether the row or the whole answer cannot be used without the field. */
function isNeeded({ missing }: FieldShape): boolean {
  return missing === 'row' || missing === 'answer';
}

function orNull(schema: Schema): Schema {
  if ('$ref' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'] };
}
