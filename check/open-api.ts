import { ANSWER_SHAPES } from '../src/gateway/interface/answer-shapes.ts';
import type { FieldShape, Shape } from '../src/gateway/interface/shape.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type ReadName,
} from '../src/gateway/operations.ts';

/** A part of a JSON Schema, as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };
const NUMBER = { type: 'number' };
/** 0 or more. */
const AMOUNT = { type: 'number', minimum: 0 };
const oneOf = (...words: readonly string[]) => ({ type: 'string', enum: words });
const DIRECTION = {
  ...oneOf('buy', 'sell'),
  description: 'By the name in GATEWAY_DIRECTION_FIELD.',
};

/** `needed`: what each body has; it has nothing but that and `others`. */
function body(needed: Record<string, Schema>, others: Record<string, Schema> = {}): Schema {
  const properties = { ...needed, ...others };
  return { type: 'object', required: Object.keys(needed), properties, additionalProperties: false };
}

/** The bodies as they are sent. */
const BODIES: Readonly<Record<Exclude<OperationName, ReadName>, Schema>> = {
  login: body({ email: TEXT, password: TEXT }),
  forgotPassword: body({ email: TEXT }),
  openPosition: body(
    { symbol: TEXT, direction: DIRECTION, type: oneOf('unit', 'amount'), amount: AMOUNT },
    { price: AMOUNT, sl: AMOUNT, tp: AMOUNT, slAmount: AMOUNT, tpAmount: AMOUNT, comment: TEXT },
  ),
  placeLimitOrder: body(
    { symbol: TEXT, direction: DIRECTION, amount: AMOUNT, price: AMOUNT },
    { sl: AMOUNT, tp: AMOUNT, comment: TEXT },
  ),
  resetTradingAccountPassword: body({ account_external_id: TEXT }),
  addCryptoWallet: body({ address: TEXT }),
  addMobileWallet: body({ phone: TEXT }),
  setValue: body({ value: { description: 'Any JSON.' } }),
  markNotificationsRead: body({ ids: { type: 'array', items: NUMBER } }),
  registerDevice: body(
    { deviceId: { type: 'string', minLength: 1 } },
    { token: TEXT, platform: oneOf('ios', 'android', 'web', 'windows', 'macos'), enabled: FLAG },
  ),
};

/** The bodies of refusals; of a sign-in also with a 200. */
const ERRORS = {
  details: { error: TEXT, message: TEXT, details: { type: 'object' } },
  plain: { error: TEXT, message: TEXT },
  message: { message: TEXT },
  submit: { success: { const: false }, err: TEXT, message: TEXT },
  'sign-in': { error: TEXT, message: TEXT, ok: FLAG, email: TEXT, details: { type: 'object' } },
};

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
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of OPERATION_NAMES) {
    const { path, verb } = OPERATIONS[name];
    const methods = paths[path] ?? {};
    paths[path] = { ...methods, [verb.toLowerCase()]: operationOf(name) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'The trading gateway',
      version: '1.0.0',
      description:
        'The operations that Trading Graph calls at GATEWAY_URL. Fields that are not required may be missing or null; others that come are ignored. Numbers may be decimals in texts, times ISO 8601.',
    },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function operationOf(name: OperationName) {
  const { number, path, proves, effect, isAnonymous, errors, backend } = OPERATIONS[name];
  const answer = ANSWER_SHAPES[name];
  const refusal = content({ type: 'object', properties: ERRORS[errors] });
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: TEXT,
    example: String(EXAMPLES[parameter]),
  }));
  return {
    operationId: name,
    summary: `op ${number}`,
    description: `${EFFECTS[effect]} ${PROVES[proves]}`.trim(),
    tags: [backend],
    security: isAnonymous ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(isWrite(name) && { requestBody: { required: true, ...sentIn(name) } }),
    responses: {
      200: { description: 'Done.', ...content(schemaOf(answer), exampleOf(answer)) },
      '4XX': { description: 'Refused.', ...refusal },
      '5XX': { description: 'Failed.', ...refusal },
    },
  };
}

function isWrite(name: OperationName): name is keyof typeof BODIES {
  return Object.hasOwn(BODIES, name);
}

function sentIn(name: keyof typeof BODIES) {
  const schema = BODIES[name] as {
    required: string[];
    properties: Record<string, { enum?: string[] }>;
  };
  const fields = schema.required.map((field) => [
    field,
    EXAMPLES[field] ?? schema.properties[field]?.enum?.[0],
  ]);
  return content(schema, Object.fromEntries(fields));
}

function content(schema: Schema, example?: unknown) {
  return { content: { 'application/json': { schema, ...(example !== undefined && { example }) } } };
}

function schemaOf(shape: Shape): Schema {
  if (shape.kind === 'list') return { type: 'array', items: schemaOf(shape.of) };
  if (shape.kind === 'object') {
    const fields = Object.entries(shape.fields);
    const required = fields.filter(([, field]) => isNeeded(field)).map(([name]) => name);
    const properties = fields.map(([name, field]) => [
      name,
      isNeeded(field) ? schemaOf(field.shape) : orNull(schemaOf(field.shape)),
    ]);
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
    };
  }
  const { kind, isWhole, isId, isFilled, isTime, oneOf: words } = shape;
  return {
    type: isWhole || isId ? 'integer' : kind,
    ...(isFilled && { minLength: 1 }),
    ...(words && { enum: words }),
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
  return { ...schema, type: [schema.type, 'null'] };
}

/** `name`: that of the field, behind that of the list or object that has it. */
function exampleOf(shape: Shape, name = '', within = ''): unknown {
  if (shape.kind === 'list') return [exampleOf(shape.of, name)];
  if (shape.kind === 'object') {
    const fields = Object.entries(shape.fields).map(([field, each]) => {
      const isText = each.shape.kind === 'string' && !isNeeded(each);
      const isLeftOut = isText && !Object.hasOwn(EXAMPLES, field);
      return [field, isLeftOut ? undefined : exampleOf(each.shape, field, name)];
    });
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (shape.kind === 'boolean') return name === 'success';
  if (shape.isTime) return TIME_EXAMPLE;
  if (shape.isId) return 1;
  return (
    EXAMPLES[`${within}.${name}`] ??
    EXAMPLES[name] ??
    (shape.kind === 'number' ? 1 : (shape.oneOf?.[0] ?? 'text'))
  );
}
