import { createRandom, pick } from '../../../sandbox/random.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startFacadeProcess } from '../facade-process.ts';
import { rawPost } from '../raw-request.ts';
import { startTestRedis } from '../redis.ts';
import { startScriptedGateway } from '../scripted-gateway.ts';
import { SPOILS, startSpoilingRedis } from '../spoiling-redis.ts';
import { writeCorrupt } from './corrupt-gateway.ts';

/** The answers of the services beside the gateway where nothing is wrong: keys of tokens, a collector of spans. */
const RIGHT: Readonly<Record<string, unknown>> = {
  '/jwks': { keys: [{ kty: 'oct', kid: '1', alg: 'HS256', k: 'c2VjcmV0' }] },
  '/v1/traces': { partialSuccess: {} },
};
const QUERIES = [
  '{ instrument(id: "AAPL") { id } }',
  '{ session { id } positions { id } }',
  'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }',
];

/**
 * Fuzzes what the service reads beside clients and the gateway: Redis, JWKS and a collector of spans.
 * Returns what is wrong; null where nothing is.
 */
export async function fuzzDoors(redisPath: string, seed: number, rounds: number) {
  const random = createRandom(`doors ${seed}`);
  let answered = 0;
  await using redis = await startTestRedis(redisPath);
  await using front = await startSpoilingRedis(redis.url);
  await using sandbox = await startSandbox({ tickMs: 0 });
  await using beside = await startScriptedGateway((socket, { path }) => {
    answered += 1;
    const [, right = 'fine'] =
      Object.entries(RIGHT).find(([start]) => path.startsWith(start)) ?? [];
    writeCorrupt(random, socket, { status: 200, text: JSON.stringify(right) });
  });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    REDIS_URL: front.url,
    REDIS_REPLICAS: 'none',
    JWT_JWKS_URL: `${beside.url}/jwks`,
    OTEL_EXPORTER_OTLP_ENDPOINT: beside.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    LOGIN_LIMIT_PER_MINUTE: '1000000000',
    LOG_SAMPLE: '0',
  });
  const headers = { authorization: `Bearer ${sandbox.token({ email: 'demo@example.com' })}` };
  const wrong: string[] = [];
  const ask = (body: string, given: Readonly<Record<string, string>> = {}) =>
    rawPost(`${facade.url}/graphql`, body, given).catch((error: unknown) => {
      const last = facade.logged.slice(-3).join('\n');
      wrong.push(`no answer: ${error}\n${last}`);
      return { text: '"Query"' };
    });
  for (let round = 0; round < rounds && wrong.length === 0; round += 1) {
    front.spoil((reply, before) => {
      const spoil = random() < 0.3 ? SPOILS[pick(random, Object.keys(SPOILS))] : undefined;
      return spoil ? spoil(reply, before) : reply;
    });
    await Promise.all(
      QUERIES.map(async (query) => {
        const body = JSON.stringify({ query });
        const given = random() < 0.8 ? headers : {};
        const { text } = await ask(body, given);
        if (text.includes('"INTERNAL"')) wrong.push(`${query}: ${text}`);
      }),
    );
    const bystander = await ask('{"query":"{ __typename }"}');
    if (!bystander.text.includes('"Query"')) wrong.push(`a bystander: ${bystander.text}`);
    wrong.push(...facade.logged.filter((line) => line.includes('"level":"fatal"')));
  }
  return { problem: wrong.length === 0 ? null : wrong.join('\n'), answered, spoilt: front.spoilt };
}
