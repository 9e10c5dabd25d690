import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { type LimitName, limited } from '../../support/limits.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { unsignedToken } from '../../support/tokens.ts';
import { provedToken } from '../operations/accounts.ts';

const GUILTY = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';
const ASKED = 8;
const MANY_FIELDS = `{ ${Array.from({ length: 30 }, (_, at) => `f${at}: __typename`).join(' ')} }`;
const SESSION = '{ session { login } }';

const from = (address: string) => ({ 'x-forwarded-for': address });

interface Innocent {
  readonly address: string;
  /** Made before the guilty begins. */
  token(app: TestApp, at: number): Promise<string>;
}

/** The accounts of the sandbox, each of which is asked for once with a token of its own. */
let users = 0;
const nextUser = () => {
  users += 1;
  return `user-${users}@example.com`;
};
const fresh = async (app: TestApp) => app.sandbox.token({ email: nextUser() });

const INNOCENTS = {
  'another address': { address: ELSEWHERE, token: fresh },
  'same address, known token': { address: GUILTY, token: (app) => app.signIn(nextUser()) },
  'same address, new token': { address: GUILTY, token: fresh },
  'same account, another token': {
    address: ELSEWHERE,
    token: (app) => provedToken(app),
  },
} as const satisfies Record<string, Innocent>;

interface Guard {
  readonly of: 'an address' | 'a token';
  readonly limit: LimitName;
  /** So few that a test uses it up; what refills goes on refilling. */
  readonly max: number;
  /** One step of the guilty. True once it was refused, which it goes on to be. */
  attack(app: TestApp, at: number): Promise<boolean>;
  readonly kept: readonly (keyof typeof INNOCENTS)[];
}

const OTHERS = ['another address', 'same address, known token'] as const;

async function isRefused(asked: ReturnType<TestApp['query']>): Promise<boolean> {
  return (await asked).errors[0]?.extensions.code === 'RATE_LIMITED';
}

let victim = '';
const GUARDS: readonly Guard[] = [
  {
    of: 'an address',
    limit: 'trials',
    max: 30,
    attack: (app, at) => {
      const token = unsignedToken({ login: 5_000_000 + at, group: 'g', exp: 4_000_000_000, at });
      return isRefused(app.query(SESSION, { token, headers: from(GUILTY) }));
    },
    kept: [...OTHERS, 'same address, new token'],
  },
  {
    of: 'an address',
    limit: 'requests',
    max: 40,
    attack: (app) => isRefused(app.query('{ __typename }', { headers: from(GUILTY) })),
    kept: OTHERS,
  },
  {
    of: 'an address',
    limit: 'documents',
    max: 100,
    attack: (app, at) => isRefused(app.query(`{ a${at}: __typename }`, { headers: from(GUILTY) })),
    kept: OTHERS,
  },
  {
    of: 'an address',
    limit: 'fields',
    max: 300,
    attack: (app) => isRefused(app.query(MANY_FIELDS, { headers: from(GUILTY) })),
    kept: OTHERS,
  },
  {
    of: 'an address',
    limit: 'messages',
    max: 40,
    attack: async ({ url }) =>
      (await rawRequest(`${url}/nothing`, { headers: from(GUILTY) })).status === 429,
    kept: OTHERS,
  },
  {
    of: 'a token',
    limit: 'requests',
    // Those beside it share the other half.
    max: 200,
    attack: (app) => isRefused(app.query('{ __typename }', { token: victim })),
    kept: ['same account, another token', 'another address'],
  },
];

test.each(GUARDS)(
  'while $of asks for $limit beyond what is there, on and on, those beside it are answered as without',
  async ({ limit, max, attack, kept }) => {
    const limits = limited(limit, max);
    await using app = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' }, { limits });
    victim = await provedToken(app);
    const answered = async (innocent: Innocent) => {
      const tokens = await inParallel(ASKED, 2, (at) => innocent.token(app, at));
      return async () => {
        const answers = await inParallel(ASKED, 2, (at) =>
          app.query(SESSION, { token: tokens[at] as string, headers: from(innocent.address) }),
        );
        return answers.filter(({ errors }) => errors.length === 0).length;
      };
    };
    for (const name of kept) {
      const [without, withGuilty] = [
        await answered(INNOCENTS[name]),
        await answered(INNOCENTS[name]),
      ];
      const calm = await without();
      let refused = 0;
      let isOver = false;
      const guilty = inParallel(4, 4, async (worker) => {
        for (let at = 0; at < 2_000 && !isOver; at += 1) {
          if (await attack(app, worker * 10_000 + at).catch(() => true)) refused += 1;
        }
      });
      await eventually(() => refused > 0);
      const beside = await withGuilty();
      isOver = true;
      await guilty;
      expect(calm, name).toBe(ASKED);
      expect(beside / calm, name).toBeGreaterThanOrEqual(0.95);
    }
  },
);
