import { pick, type Random } from '../../../src/sandbox/random.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { type RandomRequest, randomRequest } from '../../end-to-end/transports/random-requests.ts';
import { randomDocument } from '../random-documents.ts';
import { FRAMES, frame, OPCODES, PACKED, packed, UPGRADE } from '../websocket-frames.ts';
import { corruptBytes, corruptJson, corruptTokens } from './corrupt.ts';

export const TARGETS = ['documents', 'framing', 'websocket', 'gateway'] as const;
export type Target = (typeof TARGETS)[number];

export interface CaseOptions {
  readonly random: Random;
  readonly tokens: readonly string[];
  readonly email: string;
}

const schema = buildSchema();
/** The query of an app's first screen. */
const HOME =
  '{ session { balance orders { id } } catalog { instruments { id } } positions { id instrument { name } } orders { id } withdrawalMethods { title } customerId positionTotals { profit } }';
const LOGIN = `mutation ($email: String!) { login(input: { email: $email, password: "demo" }) { __typename ... on LoginSuccess { accessToken ${HOME.slice(1)} } }`;
const PATHS = ['/', '/schema.graphql', '/health/ready', '/graphql/', '*', '//', '/%', '/graphql;x'];

/** For each target, the buffers that a case writes on a new connection. */
export const writesOf: Readonly<Record<Target, (options: CaseOptions) => Buffer[]>> = {
  documents: (options) => {
    const { random } = options;
    const { text, variables } = documentOf(options);
    const last = post(options, random() < 0.5 ? corruptTokens(random, text) : text, variables);
    const kept = last.toString('latin1').replace('connection: close', 'connection: keep-alive');
    // Some documents are repeated, because compiled code executes repeated documents.
    const repeats = pick(random, [0, 0, 4]);
    const earlier = Array<Buffer>(repeats).fill(Buffer.from(kept, 'latin1'));
    return [...earlier, last];
  },
  framing: (options) => {
    const { random, tokens } = options;
    const ingredients = { tokens, document: () => documentOf(options) };
    const count = pick(random, [1, 1, 2, 5]);
    const requests = Array.from({ length: count }, () => randomRequest(random, ingredients));
    // Behind an endless answer the service reads nothing, so it would not see that the client ends the connection.
    const sent = requests.findIndex(({ isEndless }) => isEndless) + 1 || count;
    const bytes = Buffer.concat(requests.slice(0, sent).map((each) => framed(random, each)));
    return split(random, random() < 0.4 ? corruptBytes(random, bytes) : bytes);
  },
  websocket: (options) => {
    const { random } = options;
    const upgrade = Buffer.from(UPGRADE);
    const head = random() < 0.1 ? corruptBytes(random, upgrade) : upgrade;
    const init = frames(random, initOf(options));
    const messageCount = 1 + Math.floor(random() * 8);
    const messages = Array.from({ length: messageCount }, () =>
      random() < 0.4 ? pick(random, Object.values(FRAMES)) : frames(random, messageOf(options)),
    );
    const all = random() < 0.8 ? [init, ...messages] : messages;
    const sent = all.map((each) => (random() < 0.05 ? corruptBytes(random, each) : each));
    const bytes = Buffer.concat(sent);
    return random() < 0.5 ? [head, bytes] : split(random, Buffer.concat([head, bytes]));
  },
  gateway: (options) => {
    const { random, email } = options;
    // Half of the cases are random documents.
    const query = pick(random, [HOME, HOME, LOGIN, null, null, null]);
    if (query !== null) return [post(options, query, { email })];
    const { text, variables } = documentOf(options);
    return [post(options, text, variables)];
  },
};

function documentOf({ random, email }: CaseOptions): { text: string; variables: unknown } {
  const operation = pick(random, ['query', 'query', 'query', 'mutation', 'subscription'] as const);
  const texts = ['AAPL', 'EURUSD', 'TEST.REJECT', 'TEST.EMPTY', email];
  const { text, variables } = randomDocument(schema, random, { operation, texts });
  return { text, variables: random() < 0.15 ? corruptJson(random, variables) : variables };
}

function post({ random, tokens }: CaseOptions, query: string, variables: unknown): Buffer {
  const headers = {
    accept: query.includes('subscription') ? 'text/event-stream' : 'application/json',
    connection: 'close',
    authorization: `Bearer ${pick(random, tokens)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ query, variables });
  return plain({ method: 'POST', search: '', headers, body });
}

/** The bytes of a correct request. */
function plain({ method, search, headers, body = '' }: Omit<RandomRequest, 'isEndless'>): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ host: 'a', ...headers, 'content-length': bytes.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const first = `${method} /graphql${search} HTTP/1.1\r\n`;
  return Buffer.concat([Buffer.from(`${first}${head}\r\n`, 'latin1'), bytes]);
}

/** A request whose body has a length, is chunked, or has wrong framing. */
function framed(random: Random, request: RandomRequest): Buffer {
  const body = Buffer.from(request.body ?? '');
  const correct = plain(request);
  const head = correct.subarray(0, correct.length - body.length).toString('latin1');
  const path = random() < 0.1 ? pick(random, PATHS) : '/graphql';
  const extra = pick(random, [
    '',
    '',
    'expect: 100-continue\r\n',
    'connection: close\r\n',
    'x: \t\r\n',
  ]);
  const altered = head.replace('/graphql', path).replace(/\r\n$/, `${extra}\r\n`);
  const kind = random();
  if (kind < 0.5) return Buffer.concat([Buffer.from(altered, 'latin1'), body]);
  const isChunked = kind < 0.85;
  const hasWrongLength = kind >= 0.7;
  const wrongLengths = [
    '',
    'content-length: 0\r\n',
    'content-length: 1e3\r\n',
    `content-length: ${body.length + 9}\r\n`,
  ];
  const framing = isChunked ? 'transfer-encoding: chunked\r\n' : '';
  const length = hasWrongLength ? pick(random, wrongLengths) : '';
  const newHead = altered.replace(/content-length: .*\r\n/, framing + length);
  const bytes = isChunked ? chunked(random, body) : body;
  return Buffer.concat([Buffer.from(newHead, 'latin1'), bytes]);
}

/** The body in chunks. A few of them have a wrong size, or a chunk extension. */
function chunked(random: Random, body: Buffer): Buffer {
  const extensions = ['', '', '', ';a=b', ' ', `;${'x'.repeat(9_000)}`];
  const chunks = split(random, body).map((chunk) => {
    const size = random() < 0.02 ? 'fffffffff' : chunk.length.toString(16);
    const head = `${size}${pick(random, extensions)}\r\n`;
    return Buffer.concat([Buffer.from(head), chunk, Buffer.from('\r\n')]);
  });
  const end = pick(random, ['0\r\n\r\n', '0\r\n\r\n', '0\r\na: b\r\n\r\n', '0\r\n', '']);
  return Buffer.concat([...chunks, Buffer.from(end)]);
}

/** Cuts the bytes at random places: half of the time at none, otherwise mostly at few. */
function split(random: Random, bytes: Buffer): Buffer[] {
  const cutCount = random() < 0.5 ? 0 : Math.floor(random() ** 3 * 30);
  const cuts = Array.from({ length: cutCount }, () => Math.floor(random() * bytes.length));
  cuts.sort((one, other) => one - other);
  const starts = [0, ...cuts];
  const ends = [...cuts, bytes.length];
  return starts.map((start, index) => bytes.subarray(start, ends[index]));
}

function initOf({ random, tokens }: CaseOptions): string {
  const payload = { authorization: `Bearer ${pick(random, tokens)}` };
  const odd = pick<unknown>(random, [payload, payload, undefined, null, [], 'x', { a: payload }]);
  return JSON.stringify({ type: 'connection_init', payload: odd });
}

function messageOf(options: CaseOptions): string {
  const { random } = options;
  const id = pick<unknown>(random, ['1', '1', '2', '3', '', '__proto__', 'x'.repeat(300), 7]);
  const { text: query, variables } = documentOf(options);
  const message = pick<unknown>(random, [
    ...Array(4).fill({ id, type: 'subscribe', payload: { query, variables } }),
    { id, type: 'complete' },
    { type: 'ping', payload: { a: 1 } },
    { type: 'pong' },
    { type: 'connection_init' },
    { id, type: 'next', payload: {} },
  ]);
  const text = JSON.stringify(random() < 0.2 ? corruptJson(random, message) : message) ?? '';
  return random() < 0.1 ? corruptTokens(random, text) : text;
}

/** A message as one frame or several, compressed or not. A ping may come before a frame. */
function frames(random: Random, text: string): Buffer {
  const isPacked = random() < 0.4;
  const bytes = isPacked ? packed(text) : Buffer.from(text);
  const parts = random() < 0.7 ? [bytes] : split(random, bytes);
  const sent = parts.flatMap((part, index) => {
    const isLast = index === parts.length - 1;
    const opcode = index === 0 ? OPCODES.text : OPCODES.continuation;
    const own = frame(opcode, part, { isLast, rsv: isPacked && index === 0 ? PACKED : 0 });
    return random() < 0.1 ? [frame(OPCODES.ping, Buffer.from('x')), own] : [own];
  });
  return Buffer.concat(sent);
}
