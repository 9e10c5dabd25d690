import { inspect } from 'node:util';
import type { CodeTraits } from '../../engine/operation/codes.ts';
import type { BackendSettings, BackendWrite } from '../gateway/backend-client.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import { builder } from '../schema/builder.ts';
import { ERROR_CODES } from '../schema/error-codes.ts';
import { OrderRef, PositionRef } from '../schema/holding.ts';
import { InstrumentRef } from '../schema/instrument.ts';
import { SessionRef } from '../schema/session.ts';
import { createBackend } from './backend.ts';
import { DeclaredError } from './declared-error.ts';
import { deadline, listSize, shared } from './extension-fields.ts';
import type { BackendOptions, Builder, ErrorTraits, Kit, Paths, Refs, Writes } from './kit.ts';

export const VERSION = 1;

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const MAX_BYTES = 8_388_608;

/** Names that stand for the gateway's own in metrics. */
const TAKEN = new Set<string>(
  Object.values(OPERATIONS).flatMap(({ area, backend }) => [area, backend]),
);

/** The kit of one start, and what extensions have declared by it. */
export function createKit() {
  const backends = new Map<string, BackendSettings>();
  const codes: Record<string, CodeTraits & { readonly advice: string }> = {};
  const kitFor = (guest: string) =>
    ({
      version: VERSION,
      // The resolvers of an extension are handed a ResolverContext, and no type says that to Pothos.
      builder: builder as unknown as Builder,
      refs: {
        Instrument: InstrumentRef,
        Position: PositionRef,
        Order: OrderRef,
        Session: SessionRef,
      } as unknown as Refs,
      listSize,
      shared,
      deadline,
      backend(options: BackendOptions<Paths, Writes>) {
        const settings = settingsOf(options);
        if (TAKEN.has(settings.name) || backends.has(settings.name)) {
          throw new Error(`the backend ${settings.name} is there already`);
        }
        backends.set(settings.name, settings);
        return createBackend(guest, settings, options);
      },
      error(code: string, { retryable, outcome, advice }: ErrorTraits) {
        if (!CODE.test(code)) throw new Error(`${code} is no code: capitals, digits and _`);
        if (code in ERROR_CODES || code in codes)
          throw new Error(`the code ${code} is there already`);
        codes[code] = { retryable, outcome, advice };
        return (message: string) => new DeclaredError(code, retryable, message);
      },
    }) satisfies Kit;
  return { kitFor, backends, codes };
}

function settingsOf(options: BackendOptions<Paths, Writes>): BackendSettings {
  const { name, reads, writes = {}, headers = {} } = options;
  if (!NAME.test(name)) throw new Error(`${name} is no name of a backend: a-z, 0-9, - and _`);
  if (!/^https?:$/.test(URL.parse(options.url)?.protocol ?? '')) {
    throw new Error(`the url of the backend ${name} is none of http or https`);
  }
  return {
    name,
    url: options.url,
    timeoutMs: positive(name, 'timeoutMs', options.timeoutMs ?? 5_000),
    connections: positive(name, 'connections', options.connections ?? 32),
    maxBytes: positive(name, 'maxBytes', options.maxBytes ?? MAX_BYTES),
    retries: options.retries ?? true,
    // A header that cannot be sent is refused here.
    headers: Object.fromEntries(new Headers(headers)),
    forwardToken: options.forwardToken ?? false,
    reads: named(name, 'reads', reads, (place, path) => pathOf(place, path)),
    writes: named(name, 'writes', writes, writeOf),
  };
}

function named<Given, Made>(
  name: string,
  option: string,
  given: Readonly<Record<string, Given>>,
  make: (place: string, value: Given) => Made,
): Readonly<Record<string, Made>> {
  if (typeof given !== 'object' || given === null) {
    throw new Error(`${option} of the backend ${name} is no object of names and paths`);
  }
  return Object.fromEntries(
    Object.entries(given).map(([each, value]) => [
      `${name}.${each}`,
      make(`${option}.${each} of the backend ${name}`, value),
    ]),
  );
}

function writeOf(place: string, given: Writes[string]): BackendWrite {
  const { method, path } =
    typeof given === 'string' ? ({ method: 'POST', path: given } as const) : given;
  if (!METHODS.has(method))
    throw new Error(`method of ${place} is ${method}: POST, PUT, PATCH or DELETE`);
  return { method, path: pathOf(`path of ${place}`, path) };
}

function pathOf(place: string, path: unknown): string {
  if (typeof path !== 'string') throw new Error(`${place} is no path, but ${inspect(path)}`);
  if (!path.startsWith('/')) throw new Error(`${place} has no / first`);
  return path;
}

function positive(name: string, option: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${option} of the backend ${name} is ${value}: a whole number from 1 on`);
}
