import { generateKeyPairSync, sign } from 'node:crypto';
import type { Socket } from 'node:net';
import { createRandom, pick } from '../../../src/sandbox/random.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { buying } from '../buying.ts';
import { eventually } from '../eventually.ts';
import { startFacadeProcess } from '../facade-process.ts';
import { rawPost, rawRequest } from '../raw-request.ts';
import { startTestRedis } from '../redis.ts';
import { answer, type ScriptedRequest, startScriptedGateway } from '../scripted-gateway.ts';
import { SPOILS, startSpoilingRedis } from '../spoiling-redis.ts';
import { inSeconds } from '../tokens.ts';
import { writeCorrupt } from './corrupt-gateway.ts';

const KEYS = generateKeyPairSync('ed25519');
const KEY_ID = '1';

/** There are at most this many times more rounds than requested. */
const MAX_TIMES = 50;

/** The correct answers of the key set and the span collector, by their paths. */
const CORRECT: Readonly<Record<string, unknown>> = {
  '/jwks': { keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'EdDSA' }] },
  '/v1/traces': { partialSuccess: {} },
};
const queriesOf = (round: number) => [
  '{ instrument(id: "AAPL") { id } }',
  '{ session { id } positions { id } }',
  'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }',
  buying(`${round}`, '__typename'),
  `{ placedOrder(idempotencyKey: "${round - 1}") { __typename } }`,
];

/**
 * Corrupts the answers of the services that the facade uses besides the gateway: Redis, a key set (JWKS) and a span
 * collector. Ends when all three have been read. Returns the problem, or null, and the number of corrupt replies of Redis.
 */
export async function fuzzServices(redisPath: string, seed: number, rounds: number) {
  const random = createRandom(`services ${seed}`);
  const requestedPaths = new Set<string>();
  await using redis = await startTestRedis(redisPath);
  await using front = await startSpoilingRedis(redis.url);
  await using sandbox = await startSandbox({ tickMs: 0 });
  const ofSandbox = `Bearer ${sandbox.token({ email: 'demo@example.com' })}`;
  // The sandbox accepts only its own tokens, and the facade only tokens of the key set, so the token is replaced.
  const relay = async (socket: Socket, { method, path, headers, body }: ScriptedRequest) => {
    const { authorization, 'content-type': type = 'application/json' } = headers;
    const own = { 'content-type': type, ...(authorization && { authorization: ofSandbox }) };
    const given = await rawRequest(sandbox.url + path, { method, headers: own, body });
    socket.write(answer(given.status, given.bytes));
  };
  await using gateway = await startScriptedGateway((socket, request) => {
    // The test may end before its answer arrives.
    relay(socket, request).catch(() => socket.destroy());
  });
  await using others = await startScriptedGateway((socket, { path }) => {
    requestedPaths.add(path);
    const correct = CORRECT[path] ?? 'fine';
    writeCorrupt(random, socket, { status: 200, text: JSON.stringify(correct) });
  });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: gateway.url,
    REDIS_URL: front.url,
    REDIS_REPLICAS: 'none',
    JWT_JWKS_URL: `${others.url}/jwks`,
    OTEL_EXPORTER_OTLP_ENDPOINT: others.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    LOGIN_LIMIT_PER_MINUTE: '1000000000',
    LOG_SAMPLE: '0',
  });
  const headers = { authorization: `Bearer ${tokenByKey()}` };
  const wrong: string[] = [];
  const ask = (body: string, given: Readonly<Record<string, string>> = {}) =>
    rawPost(`${facade.url}/graphql`, body, given).catch((error: unknown) => {
      const lastLines = facade.logged.slice(-3).join('\n');
      wrong.push(`no answer: ${error}\n${lastLines}`);
      // With this text the callers report no second problem.
      return { text: '"Query"' };
    });
  front.spoil((reply, before) => {
    const spoil = random() < 0.3 ? SPOILS[pick(random, Object.keys(SPOILS))] : undefined;
    return spoil ? spoil(reply, before) : reply;
  });
  // The service pauses after a failure of Redis, so in some rounds it reads no reply of Redis.
  const isEnough = (round: number) => {
    const isDone = round >= rounds && front.spoilt > rounds;
    return isDone || round >= MAX_TIMES * rounds;
  };
  for (let round = 0; !isEnough(round) && wrong.length === 0; round += 1) {
    await Promise.all(
      queriesOf(round).map(async (query) => {
        const body = JSON.stringify({ query });
        const given = random() < 0.8 ? headers : {};
        const { text } = await ask(body, given);
        if (text.includes('"INTERNAL"')) wrong.push(`${query}: ${text}`);
      }),
    );
    const other = await ask('{"query":"{ __typename }"}');
    if (!other.text.includes('"Query"')) wrong.push(`another client: ${other.text}`);
    wrong.push(...facade.logged.filter((line) => line.includes('"level":"fatal"')));
  }
  // The facade requests the key set and sends spans at times of its own.
  await eventually(() => Object.keys(CORRECT).every((path) => requestedPaths.has(path)));
  return { problem: wrong.length === 0 ? null : wrong.join('\n'), spoilt: front.spoilt };
}

/** A token of the sandbox's first user, which the key set verifies. */
function tokenByKey(): string {
  const claims = { login: 700_001, group: 'standard-usd', exp: inSeconds(86_400) };
  const parts = [{ alg: 'EdDSA', kid: KEY_ID }, claims];
  const body = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = body.join('.');
  return `${signed}.${sign(null, Buffer.from(signed), KEYS.privateKey).toString('base64url')}`;
}
