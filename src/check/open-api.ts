import type { CallDescription, DescribedOperation } from '../gateway/operation.ts';
import { OPERATION_NAMES, OPERATIONS } from '../gateway/operations.ts';
import type { FieldShape, ObjectShape, ScalarShape, Shape } from '../gateway/shape.ts';

/** A part of a JSON Schema, as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };

/** The bodies of refusals; of a sign-in also with a 200. */
const ERRORS = {
  details: { error: TEXT, message: TEXT, details: { type: 'object' } },
  plain: { error: TEXT, message: TEXT },
  message: { message: TEXT },
  submit: { success: { const: false }, err: TEXT, message: TEXT },
  'sign-in': { error: TEXT, message: TEXT, ok: FLAG, email: TEXT, details: { type: 'object' } },
};
const ERROR_NAMES = {
  details: 'DetailedError',
  plain: 'PlainError',
  message: 'MessageError',
  submit: 'OrderError',
  'sign-in': 'SignInError',
} as const;

const PROVES = {
  login: 'A 200 proves that the token is accepted, and its login its own.',
  token: 'A 200 proves that the token is accepted.',
  group: 'A 200 proves that the token may read this group.',
  nothing: '',
};
const EFFECTS = {
  read: 'Repeated where its answer is lost.',
  write: 'Never repeated.',
  order: 'Never repeated: without an answer nobody knows what became of it.',
};
/** Notes about fields, by their names. */
const NOTES: Readonly<Record<string, string>> = {
  direction: 'By the name in GATEWAY_DIRECTION_FIELD.',
  value: 'Any JSON.',
};

// A token of nobody: its claims are the login and the group of the other examples.
const TOKEN = [{ alg: 'HS256' }, { login: 700_001, group: 'standard-usd' }, 'of nobody']
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

/** What examples have by the names of their fields; other numbers are 1, and other texts are left out where nobody needs them. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  access_token: TOKEN,
  login: 700_001,
  group: 'standard-usd',
  provider: 'mobile-wallet',
  key: 'watchlist',
  value: ['AAPL'],
  _id: 'AAPL',
  symbol: 'AAPL',
  friendlyName: 'Apple Inc.',
  desc: 'Maker of phones and computers',
  mCurrency: 'USD',
  pCurrency: 'USD',
  currency: 'USD',
  timezone: 'America/New_York',
  id: '700001001',
  'orders.id': '700001002',
  'access.id': 'standard',
  orderId: '700001002',
  customerId: 'cus_700001',
  status: 'APPROVED',
  title: 'Bank account',
  email: 'demo@example.com',
  password: 'demo',
  account_external_id: '700001',
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  phone: '+15550100',
  ids: [1, 2],
  deviceId: 'a-phone',
  balance: 50_000,
  equity: 50_010,
  invested: 200,
  priceOpen: 200,
  priceCurrent: 201,
  price: 190,
  amount: 1,
  digits: 2,
};
const TIME_EXAMPLE = 1_764_000_000;

/** The interface as this service uses it, from the tables by which it calls, reads and compares: an OpenAPI 3.1 document. */
export function openApi() {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of OPERATION_NAMES) {
    const operation: DescribedOperation = OPERATIONS[name];
    for (const [at, [part, call]] of Object.entries(operation.calls).entries()) {
      const id = at === 0 ? name : `${name}.${part}`;
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
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function operationOf(
  { number, proves, effect, isAnonymous, errors, backend }: DescribedOperation,
  { path, query = [], body, answer }: CallDescription,
  operationId: string,
  schemas: Schemas,
) {
  const refusal = content(schemas.named(ERROR_NAMES[errors], { properties: ERRORS[errors] }));
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: TEXT,
      example: String(EXAMPLES[name] ?? name),
    })),
    ...query.map((name) => ({ name, in: 'query', schema: TEXT })),
  ];
  const requestBody = body && {
    required: true,
    ...content(schemas.of(body, true), exampleOf(body, true)),
  };
  return {
    operationId,
    summary: `op ${number}`,
    description: `${EFFECTS[effect]} ${PROVES[proves]}`.trim(),
    tags: [backend],
    security: isAnonymous ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      200: { description: 'Done.', ...content(schemas.of(answer), exampleOf(answer)) },
      '4XX': { description: 'Refused.', ...refusal },
      '5XX': { description: 'Failed.', ...refusal },
    },
  };
}

function content(schema: Schema, example?: unknown) {
  return { content: { 'application/json': { schema, ...(example !== undefined && { example }) } } };
}

/** The schemas of the document, of which objects have names. */
class Schemas {
  readonly all: Record<string, Schema> = {};

  named(name: string, schema: Schema): Schema {
    this.all[name] ??= { type: 'object', ...schema };
    return { $ref: `#/components/schemas/${name}` };
  }

  /** `isSent`: of a body, which has nothing but its fields, and of which null is none. */
  of(shape: Shape, isSent = false): Schema {
    if (shape.kind === 'list') return { type: 'array', items: this.of(shape.of, isSent) };
    return shape.kind === 'object' ? this.#object(shape, isSent) : scalarOf(shape);
  }

  #object({ name: of, fields }: ObjectShape, isSent: boolean): Schema {
    const entries = Object.entries(fields);
    const required = entries.filter(([, field]) => isNeeded(field)).map(([name]) => name);
    const properties = entries.map(([name, field]) => {
      const schema = this.of(field.shape, isSent);
      const note = NOTES[name] && isSent ? { description: NOTES[name] } : {};
      return [name, { ...(isNeeded(field) || isSent ? schema : orNull(schema)), ...note }];
    });
    return this.named(of, {
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

/** Whether the row, or the whole answer, is lost without the field. */
function isNeeded({ missing }: FieldShape): boolean {
  return missing === 'row' || missing === 'answer';
}

function orNull(schema: Schema): Schema {
  if ('$ref' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'] };
}

/** `isSent`: of a body only what is needed. `name`: that of the field, behind that of the list or object that has it. */
function exampleOf(shape: Shape, isSent = false, name = '', within = ''): unknown {
  if (shape.kind === 'list') return EXAMPLES[name] ?? [exampleOf(shape.of, isSent, name)];
  if (shape.kind === 'object') {
    const fields = Object.entries(shape.fields).map(([field, each]) => {
      const isText = each.shape.kind === 'string' && !Object.hasOwn(EXAMPLES, field);
      const isLeftOut = !isNeeded(each) && (isSent || isText);
      return [field, isLeftOut ? undefined : exampleOf(each.shape, isSent, field, name)];
    });
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  const known = EXAMPLES[`${within}.${name}`] ?? EXAMPLES[name];
  if (shape.kind === 'boolean') return name === 'success';
  if (shape.isTime) return TIME_EXAMPLE;
  if (shape.isId) return typeof known === 'number' ? known : 1;
  return known ?? (shape.kind === 'number' ? 1 : (shape.oneOf?.[0] ?? 'text'));
}
