import { expect } from 'vitest';
import type { CatalogChange } from '../../../sandbox/catalog.ts';
import type { TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createCatalog } from '../../src/catalog/replica.ts';
import { INSTRUMENT_FIELDS } from '../../src/generated/rows.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import { startCore, type TestCoreOptions } from './client.ts';
import { type CountedEnvironmentOptions, countedEnvironment } from './counted-environment.ts';

export const DEMO = 'demo@example.com';
export const PRO = 'pro@example.com';
/** The requests for a catalog: whole or what has changed of it, the ids of that, instruments by their ids, and its group. */
export const CATALOG = 'TradingGraphCatalog';
export const IDS = 'TradingGraphCatalogIds';
export const PAGE = 'TradingGraphCatalogPage';
export const OWNER = 'TradingGraphCatalogOwner';

export const noNetwork = (): Promise<never> => Promise.reject(new TypeError('no network'));

/** A request as the client sent it, and what became of it. */
export interface SentRequest {
  readonly name: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface PhoneOptions extends Omit<CountedEnvironmentOptions, 'fetch'> {
  readonly storage?: ClientStorage | null;
  readonly email?: string | null;
  /** Stands in for the network; `send` passes the request on. */
  readonly network?: (
    sent: SentRequest,
    send: (token?: string) => Promise<Response>,
    signal: AbortSignal,
  ) => Promise<Response>;
}

/** An app on a phone, with a catalog on the real facade. */
export function openPhone(
  app: TestApp,
  {
    storage = null,
    email = DEMO,
    network = (_sent, send) => send(),
    ...changed
  }: PhoneOptions = {},
) {
  const sent: SentRequest[] = [];
  const sentNamed = (name: string) => sent.filter((request) => request.name === name);
  let present = email;
  const tokenOf = (user: string | null) =>
    user === null ? null : app.sandbox.token({ email: user });
  let token = tokenOf(email);
  const environment = countedEnvironment({
    // No test waits for a pause between repetitions, none of which is as long as the shortest limit of time.
    random: () => Math.random() / 2,
    hurry: (ms) => (ms < 5_000 ? Math.min(ms, 10) : ms),
    ...changed,
    fetch: (input, init) => {
      const { query, variables } = JSON.parse(String(init?.body));
      const request = { name: /^query (\w+)/.exec(query)?.[1] ?? '', variables: variables ?? {} };
      sent.push(request);
      const passOn = (other?: string) => {
        const headers = new Headers(init?.headers);
        if (other !== undefined) headers.set('authorization', `Bearer ${other}`);
        return fetch(input, { ...init, headers });
      };
      return network(request, passOn, init?.signal ?? new AbortController().signal);
    },
  });
  const options: TestCoreOptions = { storage, environment, token: () => token };
  const core = startCore(app, options);
  const catalog = createCatalog(core);
  return {
    core,
    catalog,
    sent,
    environment,
    sentNamed,
    /** The versions since which changes were asked for, and the ids of each part. */
    versionsAsked: () => sentNamed(CATALOG).map(({ variables }) => variables.since),
    partsAsked: () => sentNamed(PAGE).map(({ variables }) => variables.ids as string[]),
    /** Fails where the catalog is not the server's for the user. */
    async agrees() {
      const { version, instruments } = await serverCatalog(app, present ?? DEMO);
      expect(catalog.all).toEqual(instruments);
      expect(catalog.version).toBe(version);
    },
    async signIn(user: string | null) {
      token = tokenOf(user);
      present = user;
      await core.tokenChanged();
      // By then the client knows whose the token is, or that there is none.
      await core.account().catch(() => {});
    },
    [Symbol.dispose]: () => core.dispose(),
  };
}

/** A storage in which a user's copy is, once there are so many texts more. */
export async function storedCopy(
  app: TestApp,
  { storage = memoryStorage(), ...options }: PhoneOptions & { storage?: ClientStorage } = {},
  texts = 2,
): Promise<ClientStorage> {
  const before = (await storage.keys('')).length;
  using phone = openPhone(app, { storage, ...options });
  await phone.catalog.load();
  await untilKept(storage, before + texts);
  return storage;
}

/** Waits until there are so many texts in a storage, which is written to in the background. */
export function untilKept(storage: ClientStorage, texts: number): Promise<void> {
  return eventually(async () => expect(await storage.keys('')).toHaveLength(texts));
}

/** The whole catalog as the server has it for a user, once it has the gateway's present one. */
export async function serverCatalog(app: TestApp, email = DEMO) {
  const token = app.sandbox.token({ email });
  const document = `{ catalog { version size instruments { ${INSTRUMENT_FIELDS.join(' ')} } } }`;
  const { data, errors } = await app.query(document, { token });
  expect(errors).toEqual([]);
  return data.catalog;
}

/** Changes the gateway's catalog by the service's own path, so that the service asks for it anew at once. */
export async function changeCatalog(app: TestApp, change: CatalogChange): Promise<void> {
  const response = await fetch(`${app.url}/sandbox/catalog`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  expect(response.status).toBe(200);
}

/** Waits until the facade has fetched what the gateway changed. */
export async function untilServed(app: TestApp, formerVersion: string, email = DEMO) {
  return eventually(async () => {
    const catalog = await serverCatalog(app, email);
    expect(catalog.version).not.toBe(formerVersion);
    return catalog;
  });
}
