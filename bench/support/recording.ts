import { decodeJwt } from 'jose';
import { request } from 'undici';
import { BEFORE_TOKEN, TOKEN_HEADER } from '../../src/gateway/operations/conventions.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.ts';
import { pathOf } from '../../test/support/ask-gateway.ts';

const EMAIL = 'pro@example.com';
/** The number of lists of positions, each with other prices. */
const TICKS = 64;
/** The share of the sandbox's instruments that are in this user's group. */
const SHARE_OF_GROUP = 0.9;

/**
 * Records each answer of the sandbox gateway to its professional user once, as a whole HTTP answer, to be replayed at
 * almost no cost.
 */
export async function record(instruments: number, tokens: number) {
  await using sandbox = await startSandbox({
    seed: 'bench',
    instruments: Math.round(instruments / SHARE_OF_GROUP),
    tickMs: 0,
  });
  const token = sandbox.token({ email: EMAIL });
  const { login, group } = decodeJwt<{ login: string; group: string }>(token);
  const values = { login: String(login), group };
  const get = (name: OperationName, encoding?: string) =>
    answerOf(sandbox, pathOf(name, values), token, encoding);
  const others = ['getSession', 'getWithdrawalMethods', 'getCustomerId'] as const;
  const answers = others.map(async (name) => [pathOf(name, values), await get(name)] as const);
  return {
    catalogPath: pathOf('getAllTickers', values),
    catalog: { plain: await get('getAllTickers'), zipped: await get('getAllTickers', 'gzip') },
    positions: await positionsOf(sandbox, () => get('getOpenPositions')),
    /** The answers to the other reads, by their paths. */
    others: new Map(await Promise.all(answers)),
    tokens: Array.from({ length: tokens }, () => sandbox.token({ email: EMAIL })),
  };
}

async function positionsOf(sandbox: Sandbox, get: () => Promise<Buffer>): Promise<Buffer[]> {
  const lists: Buffer[] = [];
  let ids: string | null = null;
  for (let tick = 0; tick < TICKS; tick += 1) {
    const list = await get();
    const theseIds = String(list.toString().match(/"id":"\d+"/g));
    ids ??= theseIds;
    // A position that reaches its limit is closed, which would change the screen.
    if (theseIds !== ids) break;
    lists.push(list);
    sandbox.tick();
  }
  return lists;
}

async function answerOf(sandbox: Sandbox, path: string, token: string, encoding = 'identity') {
  const { statusCode, headers, body } = await request(sandbox.url + path, {
    headers: { [TOKEN_HEADER]: BEFORE_TOKEN + token, 'accept-encoding': encoding },
  });
  if (statusCode !== 200) throw new Error(`${path}: status ${statusCode}`);
  const bytes = Buffer.from(await body.arrayBuffer());
  // The header `Date` is not among these, because it would make a replayed answer look old.
  const recorded = ['content-type', 'content-encoding', 'cache-control', 'etag'].flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${headers[name]}\r\n`],
  );
  const head = `HTTP/1.1 200 OK\r\n${recorded.join('')}content-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
